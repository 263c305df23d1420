// Returns the state of the page after its queued tasks; works while its clock stands still.
new Promise(done => {
  const channel = new MessageChannel();
  channel.port1.onmessage = () => done([document.readyState, document.title, location.href]);
  channel.port2.postMessage(0);
})
