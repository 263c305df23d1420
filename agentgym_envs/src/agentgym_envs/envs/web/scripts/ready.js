// How a page stands, after what it has queued so far; its clock may stand still.
new Promise(done => {
  const channel = new MessageChannel();
  channel.port1.onmessage = () => done([document.readyState, document.title, location.href]);
  channel.port2.postMessage(0);
})
