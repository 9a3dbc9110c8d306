import { Socket } from 'node:net';

/**
 * Delays writes on TCP sockets at random but preserves their order. If a test depends on the order of two processes, it
 * then fails now rather than on a slow machine. Loaded into every process of a run. docs/contributing.md has the
 * command.
 */

const share = Number(process.env['LATE_SHARE'] ?? 0.1);
const maxMs = Number(process.env['LATE_MS'] ?? 600);

const prototype = /** @type {any} */ (Socket.prototype);
for (const name of ['_write', '_writev']) {
  const write = prototype[name];
  prototype[name] = function late(/** @type {any[]} */ ...args) {
    // Pipes to child processes have no port. Do not delay them.
    if (this.remotePort === undefined || Math.random() >= share) return write.apply(this, args);
    setTimeout(() => {
      if (this.destroyed) args.at(-1)(new Error('The socket was closed before a delayed write.'));
      else write.apply(this, args);
    }, Math.random() * maxMs);
  };
}
