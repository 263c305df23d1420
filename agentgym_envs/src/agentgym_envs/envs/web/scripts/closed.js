// Removes connections that bypass the proxy, and service workers, which would outlive the page.
(() => {
  for (const name of ['RTCPeerConnection', 'webkitRTCPeerConnection']) delete window[name];
  if (!window.ServiceWorkerContainer) return;
  const register = () => {
    console.warn('Service Worker registration blocked');
    return Promise.reject(new DOMException('Service workers are not available.', 'SecurityError'));
  };
  const fixed = {value: register, writable: false, configurable: false};
  Object.defineProperty(ServiceWorkerContainer.prototype, 'register', fixed);
})();
