import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { MongoNetworkError } from 'mongodb';
import { expect, it } from 'vitest';
import { connectMongo } from '../../src/store/mongo.ts';
import { databaseUri } from '../support/run-servers.ts';

/**
 * Connections close just as a write begins. These tests have a file of their own, because they patch the sockets of the
 * whole process.
 */

/** With this option, heartbeats are polled instead of streamed, so each one is a write on any server. */
const polled = 'serverMonitoringMode=poll';

async function connect(options: string) {
  const sockets: Socket[] = [];
  const collect = (message: unknown): void => {
    const { socket } = message as { socket: Socket };
    sockets.push(socket);
  };
  subscribe('net.client.socket', collect);
  const uri = databaseUri('test_unfinished_writes');
  const client = await connectMongo(`${uri}${uri.includes('?') ? '&' : '?'}${options}`, { poolSize: 1 });
  const ping = async (): Promise<unknown> => (await client.db.command({ ping: 1 }))['ok'];
  expect(await ping()).toBe(1);
  unsubscribe('net.client.socket', collect);
  const [heartbeat, pooled] = sockets;
  const ended = new Set<Socket | undefined>();
  for (const socket of sockets) {
    const write = socket.write.bind(socket);
    socket.write = (data: string | Uint8Array) => {
      ended.add(socket.destroy());
      return write(data);
    };
  }
  return { client, ping, ended, heartbeat, pooled };
}

it('a command fails, and the server is found again', async () => {
  // The heartbeats are far apart, because a failed heartbeat before the command would close the command's connection.
  const { client, ping, ended, pooled } = await connect(`${polled}&heartbeatFrequencyMS=600000`);
  await expect(ping()).rejects.toThrow(MongoNetworkError);
  await expect.poll(() => ping().catch(() => 'not yet')).toBe(1);
  expect(ended.has(pooled)).toBe(true);
  await client.close();
});

it('a heartbeat fails, and the server is found again', async () => {
  const { client, ping, ended, heartbeat } = await connect(`${polled}&heartbeatFrequencyMS=500`);
  const beats = { failed: 0, succeeded: 0 };
  client.client.on('serverHeartbeatFailed', () => void (beats.failed += 1));
  client.client.on('serverHeartbeatSucceeded', () => void (beats.succeeded += 1));
  await expect.poll(() => ended.has(heartbeat)).toBe(true);
  await expect.poll(() => beats.failed > 0 && beats.succeeded > 0).toBe(true);
  await expect.poll(() => ping().catch(() => 'not yet')).toBe(1);
  await client.close();
});
