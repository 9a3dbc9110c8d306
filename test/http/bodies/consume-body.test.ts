import { IncomingMessage } from 'node:http';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createBodyBudget } from '../../../src/http/bodies/body-budget.ts';
import { consumeBody } from '../../../src/http/bodies/consume-body.ts';
import { openSpool } from '../../../src/http/images/spool.ts';
import { openImageWorkspaces } from '../../../src/images/workspace.ts';

function arrived(...pieces: readonly string[]): IncomingMessage {
  const request = new IncomingMessage(new Socket());
  request.headers = { 'content-length': String(pieces.join('').length) };
  for (const piece of pieces) request.push(piece);
  request.push(null);
  return request;
}

function options(onChunk: (chunk: Buffer) => Promise<void>) {
  const memory = createBodyBudget({
    name: 'bodies of json',
    bytesMax: 100_000,
    accountBytesMax: 100_000,
  }).open('account');
  const isHeldBack = () => false;
  return { memory, disk: memory, bytesPerSecondMin: 1, bytesMax: 1_000, isHeldBack, onChunk };
}

const endless = { reserve: () => undefined };

async function turns(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await setImmediate();
}

function held() {
  let begun = 0;
  const ends: { resolve: () => void; reject: (error: Error) => void }[] = [];
  return {
    ends,
    get begun() {
      return begun;
    },
    onChunk: () => {
      begun += 1;
      return new Promise<void>((resolve, reject) => ends.push({ resolve, reject }));
    },
  };
}

describe('reading a body', () => {
  it('ends after the work on its last piece, not before', async () => {
    const work = held();
    let ended = false;
    const request = arrived('one', 'two');
    const reading = consumeBody(request, options(work.onChunk)).then(() => (ended = true));
    await turns();
    expect(work.begun).toBe(1);
    work.ends[0]?.resolve();
    await turns();
    expect({ begun: work.begun, streamEnded: request.readableEnded, ended }).toEqual({
      begun: 2,
      streamEnded: true,
      ended: false,
    });
    work.ends[1]?.resolve();
    await reading;
    expect(ended).toBe(true);
  });

  it('fails as the work on its last piece does', async () => {
    const work = held();
    const request = arrived('one');
    const reading = consumeBody(request, options(work.onChunk));
    await turns();
    expect(request.readableEnded).toBe(true);
    work.ends[0]?.reject(new Error('the disk is full'));
    await expect(reading).rejects.toThrow('the disk is full');
  });

  it('that is cut off ends after the work on the previous piece', async () => {
    const work = held();
    const request = new IncomingMessage(new Socket());
    request.headers = { 'content-length': '6' };
    request.push('one');
    let failure: unknown;
    const reading = consumeBody(request, options(work.onChunk)).catch((error: unknown) => (failure = error));
    await turns();
    request.destroy();
    await turns();
    expect({ destroyed: request.destroyed, failure }).toEqual({ destroyed: true, failure: undefined });
    work.ends[0]?.resolve();
    await reading;
    expect(failure).toMatchObject({ code: 'invalid_json' });
  });
});

describe('a body that is slow', () => {
  const fiveSeconds = 5_000;

  function open(isHeldBack = () => false) {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const request = new IncomingMessage(new Socket());
    request.headers = { 'content-length': '10' };
    return {
      request,
      reading: consumeBody(request, { ...options(() => Promise.resolve()), isHeldBack }),
    };
  }

  it('is cut off', async () => {
    const { request, reading } = open();
    const failure = reading.catch((error: unknown) => error);
    request.push('one');
    await turns();
    vi.advanceTimersByTime(fiveSeconds);
    expect(await failure).toMatchObject({ code: 'request_timeout' });
  });

  it('is not assumed while its bytes wait here for processing, but is once none do', async () => {
    let isHeld = true;
    const { request, reading } = open(() => isHeld);
    const failure = reading.catch((error: unknown) => error);
    request.push('one');
    await turns();
    vi.advanceTimersByTime(fiveSeconds);
    await turns();
    isHeld = false;
    request.push('two');
    await turns();
    expect(await Promise.race([failure, Promise.resolve('still read')])).toBe('still read');
    vi.advanceTimersByTime(fiveSeconds);
    expect(await failure).toMatchObject({ code: 'request_timeout' });
  });

  it('is not assumed if it arrived while this process was paused', async () => {
    const { request, reading } = open();
    await turns();
    vi.advanceTimersByTime(fiveSeconds);
    request.push('0123456789');
    request.push(null);
    await expect(reading).resolves.toBeUndefined();
  });
});

describe('the spool', () => {
  let root: string;
  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), 'spool-test-'));
  });
  afterAll(() => rm(root, { recursive: true, force: true }));

  it('a flush or close ends after the previous flush', async () => {
    const spool = openSpool((await openImageWorkspaces(Date.now, root)).open(), {
      filesMax: 1,
      disk: endless,
    });
    const file = spool.newFile('image');
    file.append(Buffer.from('one'));
    const first = spool.flush();
    file.append(Buffer.from('two'));
    const flushed = spool.flush().then(() => readFile(file.uploaded('image').path, 'utf8'));
    await spool.close();
    await expect(first).resolves.toBeUndefined();
    expect(await flushed).toBe('onetwo');
  });

  it('is full once enough small pieces are waiting, in whichever files', async () => {
    const workspace = (await openImageWorkspaces(Date.now, root)).open();
    const spool = openSpool(workspace, { filesMax: 2, disk: endless });
    const files = [spool.newFile('image'), spool.newFile('image')];
    for (const file of files) file.append(Buffer.alloc(16_383));
    expect(spool.isFull).toBe(false);
    for (const file of files) file.append(Buffer.alloc(1));
    expect(spool.isFull).toBe(true);
    await spool.flush();
    expect(spool.isFull).toBe(false);
    await spool.close();
  });
});
