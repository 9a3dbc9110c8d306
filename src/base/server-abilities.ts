export interface ServerFacts {
  readonly version?: string;
  readonly topology: 'replica set' | 'sharded cluster' | 'standalone server';
  readonly setName?: string;
  readonly wireVersion: number;
  readonly isWritable: boolean;
  readonly readsMajority: boolean;
}

interface Ability {
  readonly isThere: (facts: ServerFacts) => boolean;
  /** What the server lacks and how to fix that, worded to follow “it”. */
  readonly missing: string;
  readonly since?: readonly [major: number, minor: number];
}

/** The wire version of MongoDB 4.4, the first release with error labels. */
const labelsWireVersion = 9;

const required: readonly Ability[] = [
  {
    isThere: ({ wireVersion }) => wireVersion >= labelsWireVersion,
    missing:
      'does not mark failed writes as retryable (error labels, MongoDB 4.4), so the driver does not support it: upgrade to MongoDB 7',
    since: [4, 4],
  },
  {
    isThere: ({ readsMajority }) => readsMajority,
    missing:
      'cannot read majority-committed data: start it without enableMajorityReadConcern: false, and with the WiredTiger storage engine',
  },
  {
    isThere: ({ isWritable }) => isWritable,
    missing:
      'is not the primary: list all members and the replicaSet in MONGODB_URI, remove directConnection, or wait for the election to end',
  },
];

const recommended: readonly Ability[] = [
  {
    isThere: ({ topology }) => topology !== 'standalone server',
    missing:
      'is a standalone server: confirmed writes are stored on only one disk, and the driver does not retry writes that were interrupted by a network error. Start the server with --replSet rs0, and run rs.initiate()',
  },
];

/** Returns what the server lacks. The gateway can use the server only if the list is empty. */
export function missingAbilities(facts: ServerFacts): readonly string[] {
  return lackedBy(facts, required);
}

/** Returns shortcomings with which the gateway can still use the server. */
export function limitsOf(facts: ServerFacts): readonly string[] {
  return lackedBy(facts, recommended);
}

function lackedBy(facts: ServerFacts, abilities: readonly Ability[]): readonly string[] {
  return abilities.filter(({ isThere }) => !isThere(facts)).map(({ missing }) => missing);
}

/** Checks a release before it is started. `version` is a string such as `4.2.24`. */
export function missingInVersion(version: string): readonly string[] {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const isOlder = (since: Ability['since']): boolean =>
    since !== undefined && (major < since[0] || (major === since[0] && minor < since[1]));
  return required.filter(({ since }) => isOlder(since)).map(({ missing }) => missing);
}

export function describeServer({ version, topology, setName }: ServerFacts): string {
  const name = setName === undefined ? topology : `${topology} ${setName}`;
  return `MongoDB ${version ?? 'of an unknown version'}, ${name}`;
}

export class ServerAbilityError extends Error {
  override readonly name = 'ServerAbilityError';
}

export function requireAbilities(facts: ServerFacts): void {
  const missing = missingAbilities(facts);
  if (missing.length > 0) throw abilityError(describeServer(facts), missing);
}

/**
 * Replaces the driver's error about an outdated server, which only compares version numbers, with one that names what
 * the server lacks. Returns other errors unchanged.
 */
export function namedAbilityError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const [, address, found] = /at (\S+) reports maximum wire version (\d+)/.exec(error.message) ?? [];
  if (address === undefined || found === undefined) return error;
  const missing = missingAbilities({ ...able, wireVersion: Number(found) });
  return abilityError(`MongoDB at ${address} (wire version ${found})`, missing, error);
}

const able = { topology: 'replica set', isWritable: true, readsMajority: true } as const;

function abilityError(server: string, missing: readonly string[], cause?: unknown): ServerAbilityError {
  return new ServerAbilityError(`${server} cannot be used: it ${missing.join('; it ')}.`, { cause });
}
