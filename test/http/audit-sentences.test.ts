import { expect, it } from 'vitest';
import { createApp } from '../../src/http/app.ts';
import { phrases, sentenceOf } from '../../src/pages/console/audit-sentence.js';
import { operatorActions } from '../../src/operating/acts.ts';
import { useHttpWorld } from '../support/http-world.ts';
import { readSources } from '../support/source-rules.ts';

const world = useHttpWorld('http_audit_sentences');

function otherActions(): string[] {
  return Object.values(readSources('.', ['src', 'activities']))
    .filter((text) => /\b(?:auditLog\.keep|keepShellAct)\(/.test(text))
    .flatMap((text) => [...text.matchAll(/\baction: '(\w+)'/g)].map(([, name = '']) => name));
}

it('the console has a sentence for each action in the audit log, and for no other', () => {
  const recorded = createApp(world.deps).routes.flatMap((route) =>
    route.authentication === 'admin' && route.act !== 'none' && route.operationId !== 'actOnTask'
      ? [route.operationId]
      : [],
  );
  const others = otherActions();
  expect(others).toEqual(
    expect.arrayContaining(['accountDeleted', 'acceptOperatorInvitation', 'acceptClock']),
  );
  const all = new Set([...recorded, ...operatorActions, ...others]);
  expect(Object.keys(phrases).toSorted()).toEqual([...all].toSorted());
});

const entry = { by: 'admin', via: 'console', target: 'main', what: '{}' } as const;
const sentence = (change: Partial<Parameters<typeof sentenceOf>[0]>) => {
  const about = { ...entry, action: 'setChannel', ...change };
  const [before, after] = sentenceOf(about);
  return after === undefined ? before : `${before}${about.target}${after}`;
};

it.each([
  [{ what: '{"enabled":false}' }, 'admin switched the channel main off'],
  [{ action: 'openSession', target: '' }, 'admin signed in'],
  [
    { action: 'tryCredential', target: '', what: '{"channel":"ark","credential":"main"}' },
    'admin tested the credential main of the channel ark',
  ],
  [{ action: 'fail', target: '30 tasks' }, 'admin ended 30 tasks as failed'],
  [{ action: 'creditAccount', what: '{"amount":"20.00' }, 'admin credited main with (not recorded)'],
  [{ action: 'of_an_older_version' }, 'admin used “of an older version” on main'],
  [
    { action: 'reloadConfig', by: 'start', via: 'start', target: 'vm/8645/3e5345' },
    'The start of a process (vm, pid 8645) published its configuration file',
  ],
  [
    { action: 'reloadConfig', by: 'signal', via: 'signal', target: 'vm/8645/3e5345' },
    'A SIGHUP made a process (vm, pid 8645) publish its configuration file',
  ],
] as const)('%j reads: %s', (change, expected) => {
  expect(sentence(change)).toBe(expected);
});
