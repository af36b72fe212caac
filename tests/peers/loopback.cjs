// Preload (`node --require`): every TCP listener of this process binds 127.0.0.1.
//
// The conformance suite's mock servers listen on all interfaces, and some of them read the address
// right after `listen(0)`. A host argument would make `listen` resolve it first and bind later, so
// the bind itself is called, as Node does for an address it needs not resolve.
'use strict';

const { Server } = require('net');

const BACKLOG = 511;
const IPV4 = 4;
const anywhere = Server.prototype.listen;

function portOf(first) {
  if (first === undefined || first === null || typeof first === 'function') return 0;
  if (typeof first === 'object') return first.path === undefined ? first.port : undefined;
  return /^\d+$/.test(String(first)) ? Number(first) : undefined;
}

Server.prototype.listen = function listen(...args) {
  const port = portOf(args[0]);
  if (port === undefined) return anywhere.apply(this, args);
  const ready = args.findLast((argument) => typeof argument === 'function');
  if (ready) this.once('listening', ready);
  this._listen2('127.0.0.1', Number(port), IPV4, BACKLOG, undefined, 0);
  return this;
};
