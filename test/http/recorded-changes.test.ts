import { expect, it } from 'vitest';
import { createApp } from '../../src/http/app.ts';
import { useHttpWorld } from '../support/http-world.ts';

const world = useHttpWorld('http_recorded_changes');

/** Actions that replace no stored value, each with the reason. All other actions record what they change. */
const others: Readonly<Record<string, readonly string[]>> = {
  'it creates something, and its fields are what it sets': [
    'addOperator',
    'createAccount',
    'createKey',
    'inviteOperator',
    'openSession',
  ],
  'it adds an entry to the ledger, which has the balance before and after': ['creditAccount', 'refundImages'],
  'it ends what it names for good': [
    'deleteAccount',
    'discardConfigDraft',
    'endSession',
    'endSessions',
    'revokeKey',
    'revokeOperator',
    'withdrawInvitation',
  ],
  'it replaces a secret': ['rotateKey', 'rotateWebhookSecret'],
  'the record of the task has it': ['actOnTask'],
  'it only sends or reads something': ['testNotices', 'tryCredential', 'exportAccount', 'getTaskRequest'],
};

it('every act that replaces a stored value records what it changes', () => {
  const acts = createApp(world.deps).routes.flatMap((route) =>
    route.authentication === 'admin' && route.act !== 'none' ? [route] : [],
  );
  const settings = acts.filter(({ act }) => act === 'setting').map(({ operationId }) => operationId);
  expect(settings).toEqual(
    expect.arrayContaining([
      'setAccountAlert',
      'setCircuit',
      'closeAccount',
      'reopenAccount',
      'setOverdraft',
    ]),
  );
  const rest = acts.filter(({ act }) => act === 'other').map(({ operationId }) => operationId);
  expect(rest.toSorted()).toEqual(Object.values(others).flat().toSorted());
});
