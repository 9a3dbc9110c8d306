import { setTimeout as delay } from 'node:timers/promises';
import { Command, InvalidArgumentError } from 'commander';
import { z } from 'zod';
import { openStand } from './stand/stand.ts';
import { beginProbe, readProbe } from '../test/support/read-probe.ts';
import { attacks } from './hostile/attacks.ts';
import type { Attack } from './hostile/scene.ts';
import { startHostileGateway, type HostileGateway } from './hostile/gateway.ts';
import { startHelper, type Helper } from './stand/helper.ts';
import { header, problemsOf, row, type Outcome } from './hostile/table.ts';
import { victimReport, type VictimReport } from './hostile/victim-report.ts';
import { ask } from './stand/http.ts';

/**
 * `npm run hostile -- [--only text] [--seconds n] [--clients n] [--seed n] [--strict]`: attacks a gateway with a heap
 * of 640 MB while a victim creates tasks and reads. Prints a table of the attackers' responses, event loop stalls,
 * memory growth, and the victim's successes and worst response, with and without an attack.
 * Exits with 1 if the process died, an attacker got a 5xx other than 503, the victim had no success, or memory grew by
 * more than 100 MiB beyond the permitted bodies. With `--strict`, also exits with 1 if the event loop was blocked for
 * longer than 50 ms, or the victim's worst response took more than three times as long as its worst without an attack.
 */

const count = (text: string): number => {
  const number = Number(text);
  if (!Number.isInteger(number) || number < 1)
    throw new InvalidArgumentError('must be a whole number of at least 1');
  return number;
};

interface Options {
  readonly only: string;
  readonly seconds: number;
  readonly clients: number;
  readonly seed: number;
  readonly strict?: true;
}

const options = new Command()
  .name('hostile')
  .option('--only <text>', 'run only the attacks whose names contain this text', '')
  .option('--seconds <n>', 'for each attack', count, 3)
  .option('--clients <n>', 'the number of concurrent attackers, each with its own account', count, 1)
  .option('--seed <n>', 'the seed of all random decisions', count, 1)
  .option(
    '--strict',
    'also fail if the event loop stalls for more than 50 ms or the victim’s responses are slow',
  )
  .parse()
  .opts<Options>();

const report = (text: string): void => void process.stdout.write(`${text}\n`);
const attackerProgram = new URL('hostile/attacker.ts', import.meta.url);
const victimProgram = new URL('hostile/victim.ts', import.meta.url);
const keysOfAttacker = 2;
const aliveWithinMs = 60_000;
const calmMs = 200;
/** Limits apply per IP address, so each attacker gets its own. On Linux, these addresses work without configuration. */
const addressOf = (host: string) => (process.platform === 'linux' ? { localAddress: `127.0.${host}` } : {});

const victimAddress = addressOf('0.2');

interface World {
  readonly gateway: HostileGateway;
  readonly victim: Helper;
  readonly victimKey: string;
  readonly attackers: readonly Attacker[];
}

interface Attacker {
  readonly helper: Helper;
  readonly keys: readonly string[];
  readonly localAddress?: string;
}

async function runAll(): Promise<number> {
  const chosen = attacks.filter(({ name }) => name.includes(options.only));
  if (chosen.length === 0) throw new Error(`no attack has "${options.only}" in its name`);
  const stand = await openStand();
  const helpers: Helper[] = [];
  const help = (program: URL): Helper => {
    const helper = startHelper(program);
    helpers.push(helper);
    return helper;
  };
  try {
    const world = await openWorld(await startHostileGateway(stand), help);
    report(header);
    const alone = await measureAlone(world);
    let failed = 0;
    for (const attack of chosen) {
      const outcome = await carryOut(world, attack, alone);
      report(row(outcome, options.strict === true));
      if (problemsOf(outcome, options.strict === true).length > 0) failed += 1;
    }
    report(failed === 0 ? `seed ${options.seed}: nobody noticed` : `seed ${options.seed}: ${failed} failed`);
    return failed === 0 ? 0 : 1;
  } finally {
    for (const helper of helpers) helper.end();
    await stand.close();
  }
}

async function openWorld(gateway: HostileGateway, help: (program: URL) => Helper): Promise<World> {
  const [victimKey = ''] = await gateway.newKeys('victim', 1);
  const attackers: Attacker[] = [];
  for (let n = 1; n <= options.clients; n += 1) {
    const keys = await gateway.newKeys(`attacker-${n}`, keysOfAttacker);
    attackers.push({ helper: help(attackerProgram), keys, ...addressOf(`1.${n}`) });
  }
  return { gateway, victim: help(victimProgram), victimKey, attackers };
}

async function measureAlone({ gateway, victim, victimKey }: World): Promise<VictimReport> {
  const { url, adminToken: operatorToken } = gateway;
  await victim.order(z.object({}), { what: 'begin', url, key: victimKey, operatorToken, ...victimAddress });
  await delay(options.seconds * 1000);
  return victim.order(victimReport, { what: 'end' });
}

async function carryOut(world: World, attack: Attack, alone: VictimReport): Promise<Outcome> {
  const { gateway, victim, victimKey, attackers } = world;
  const api = gateway.api();
  const { url, adminToken: operatorToken } = gateway;
  const read = await beginProbe(api);
  await victim.order(z.object({}), { what: 'begin', url, key: victimKey, operatorToken, ...victimAddress });
  const seconds = Math.max(options.seconds, attack.secondsLeast ?? 0);
  const got = await Promise.all(
    attackers.map(({ helper, ...own }, n) =>
      helper.order(z.object({ statuses: z.record(z.string(), z.number()) }), {
        ...own,
        ...(attack.isFromVictimsAddress === true ? victimAddress : {}),
        attack: attack.name,
        url,
        seconds,
        seed: options.seed + n,
      }),
    ),
  );
  const asked = victim.order(victimReport, { what: 'end' });
  const end = await untilIdle(api, read);
  const probe = await readProbe(api);
  const after = end ?? (await untilIdle(api, () => beginProbe(api)));
  const outcome = {
    attack,
    statuses: sum(got.map(({ statuses }) => statuses)),
    victim: await asked,
    alone,
    probe,
    ...(after === undefined ? {} : { end: after }),
  };
  if (after === undefined) await untilCalm(url);
  else await gateway.restartApi();
  return outcome;
}

async function untilCalm(url: string): Promise<void> {
  for (const endsAt = Date.now() + aliveWithinMs; Date.now() < endsAt; await delay(calmMs)) {
    const startedAt = performance.now();
    const answer = await ask(`${url}/healthz`).catch(() => undefined);
    if (answer !== undefined && performance.now() - startedAt < calmMs) return;
  }
}

async function untilIdle(
  api: ReturnType<HostileGateway['api']>,
  turns: () => Promise<unknown>,
): Promise<string | undefined> {
  const late = new AbortController();
  const hung = delay(aliveWithinMs, 'hung', { signal: late.signal }).catch(() => undefined);
  const idle = turns().then(
    () => undefined,
    async () => `it ${await api.exited}`,
  );
  const end = await Promise.race([idle, hung]);
  late.abort();
  return end;
}

function sum(all: readonly Readonly<Record<string, number>>[]): Readonly<Record<string, number>> {
  const total: Record<string, number> = {};
  for (const [name, value] of all.flatMap((each) => Object.entries(each)))
    total[name] = (total[name] ?? 0) + value;
  return total;
}

process.exitCode = await runAll();
