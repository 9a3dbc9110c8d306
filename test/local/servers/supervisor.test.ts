import { expect, it } from 'vitest';
import type { ChildServer } from '../../../src/local/servers/process.ts';
import { supervise } from '../../../src/local/servers/supervisor.ts';

function childNamed(name: string) {
  let end: () => void = () => undefined;
  const exited = new Promise<string>((resolve) => (end = () => resolve('exited with status 0')));
  let gone = false;
  void exited.then(() => (gone = true));
  const stop = async (): Promise<void> => {
    end();
    await exited;
  };
  const child: ChildServer = {
    name,
    pid: 1,
    logFile: 'child.log',
    logOffset: 0,
    exited,
    hasExited: () => gone,
    send: () => undefined,
    stop,
    kill: stop,
  };
  return { child, end };
}

it('a child that is being restarted when everything ends is ended too', async () => {
  const first = childNamed('first');
  const second = childNamed('second');
  let begin: () => void = () => undefined;
  const starting = new Promise<void>((resolve) => (begin = resolve));
  let finishStart: () => void = () => undefined;
  const supervised = supervise(
    first.child,
    () => {
      begin();
      return new Promise<ChildServer>((resolve) => (finishStart = () => resolve(second.child)));
    },
    () => undefined,
  );
  first.end();
  await starting;
  const stopped = supervised.stop();
  finishStart();
  await stopped;
  expect(second.child.hasExited()).toBe(true);
});
