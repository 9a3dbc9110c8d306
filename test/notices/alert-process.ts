import { randomBytes } from 'node:crypto';
import { afterAll } from 'vitest';
import { createGuardedClient } from '../../src/http-client/guarded-client.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { createAccountAlerts, type AccountAlertsDeps } from '../../src/notices/account-alerts.ts';
import { createAccountAlertStore } from '../../src/store/account-alerts.ts';
import { createAccountStore } from '../../src/store/accounts.ts';
import { createCapEventStore } from '../../src/store/cap-events.ts';
import { createKeyStore } from '../../src/store/keys.ts';
import { ensureStoreIndexes } from '../../src/store/stores.ts';
import type { LedgerWorld } from '../ledger/support.ts';
import { testEndUsers, testSealing } from '../support/sealing.ts';

export const webhookSecret = `whsec_${randomBytes(24).toString('base64')}`;

export function useDelivery(): AccountAlertsDeps['deliver'] {
  const client = createGuardedClient({ networks: ['127.0.0.0/8'] });
  afterAll(() => client.close());
  return (delivery) => client.deliver(delivery);
}

function alertStores({ db }: Pick<LedgerWorld, 'db'>, now: () => number) {
  return {
    accountAlerts: createAccountAlertStore(db),
    capEvents: createCapEventStore(db, testEndUsers),
    keys: createKeyStore(db, now),
    accounts: createAccountStore(db, testEndUsers),
  };
}

export const ensureAlertIndexes = (world: Pick<LedgerWorld, 'db'>) =>
  ensureStoreIndexes(alertStores(world, Date.now));

interface ProcessOptions extends Partial<AccountAlertsDeps> {
  readonly deliver: AccountAlertsDeps['deliver'];
  readonly now: () => number;
  readonly ledgerNow?: () => number;
}

export async function startAlertProcess(world: LedgerWorld, { ledgerNow, ...change }: ProcessOptions) {
  const { accountAlerts: store, capEvents: events, ...stores } = alertStores(world, change.now);
  const opened: { ledger?: Ledger } = {};
  const books = () => opened.ledger ?? fail();
  const alerts = createAccountAlerts({
    store,
    events,
    ...stores,
    balance: (account) => books().balance(account),
    uses: (account, by) => books().uses(account, by),
    spendings: (account, page) => books().spendings(account, page),
    webhookSecrets: () => Promise.resolve([webhookSecret]),
    open: (purpose, sealed) => testSealing.open(purpose, sealed),
    takePlace: async () => ({ isGranted: true, leave: () => undefined }),
    currency: () => 'USD',
    log: { warn: () => undefined, error: () => undefined },
    random: () => 0.5,
    randomBytes,
    ...change,
  });
  const ledger = await world.openLedger({
    onBalance: alerts.note,
    ...(ledgerNow === undefined ? {} : { now: ledgerNow }),
  });
  opened.ledger = ledger;
  return { alerts, store, events, ...stores, ledger };
}

function fail(): never {
  throw new Error('the ledger is not open yet');
}
