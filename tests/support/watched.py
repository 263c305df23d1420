"""Browser pages whose complaints fail a test."""


def watch(page, complaints, own):
    """Records messages of the console, errors, dialogs, and requests to foreign addresses.

    Args:
        page: the page, before it opens an address.
        complaints: the list that receives the records.
        own: the beginning of the addresses that the page may ask for, besides ``data:``.
    """

    def asked(request):
        if not request.url.startswith((own, "data:")):
            complaints.append(request.url)

    def dismissed(dialog):
        complaints.append(dialog.message)
        dialog.dismiss()

    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("dialog", dismissed)
    page.on("request", asked)
