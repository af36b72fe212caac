// Preload (`node --require`): this process reaches nobody but this machine.
//
// The servers of the corpus are asked only what they offer. A telemetry call or a look-up of the
// account behind a made-up credential would make that depend on the network, so it fails at once,
// as it would with the cable out.
'use strict';

const dns = require('dns');
const { Socket } = require('net');

const LOCAL = new Set(['127.0.0.1', '::1', 'localhost']);
const anywhere = Socket.prototype.connect;

function unreachable(host) {
  return Object.assign(new Error(`offline: ${host}`), { code: 'ENETUNREACH' });
}

// Node hands its own normalised arguments on as one array, so both shapes are read.
function target(args) {
  const first = Array.isArray(args[0]) ? args[0][0] : args[0];
  if (first === null || typeof first !== 'object') {
    return typeof args[1] === 'string' ? args[1] : 'localhost';
  }
  return first.path ? 'localhost' : (first.host ?? 'localhost');
}

Socket.prototype.connect = function connect(...args) {
  const host = target(args);
  if (LOCAL.has(host)) return anywhere.apply(this, args);
  process.nextTick(() => this.destroy(unreachable(host)));
  return this;
};

const lookup = dns.lookup;
dns.lookup = function refuse(host, options, done) {
  if (LOCAL.has(host)) return lookup.call(this, host, options, done);
  const answer = typeof options === 'function' ? options : done;
  process.nextTick(() => answer(unreachable(host)));
};
