import { describe, expect, it } from 'vitest';
import {
  describeServer,
  limitsOf,
  missingAbilities,
  missingInVersion,
} from '../../src/base/server-abilities.ts';
import type { ServerFacts } from '../../src/base/server-abilities.ts';

const good: ServerFacts = {
  version: '7.0.14',
  topology: 'replica set',
  setName: 'rs0',
  wireVersion: 21,
  isWritable: true,
  readsMajority: true,
};

it('a primary of a replica set, and a mongos, can do everything', () => {
  const { setName: _setName, ...rest } = good;
  const mongos = { ...rest, topology: 'sharded cluster' } as const;
  for (const facts of [good, mongos]) expect([missingAbilities(facts), limitsOf(facts)]).toEqual([[], []]);
  expect(describeServer(good)).toBe('MongoDB 7.0.14, replica set rs0');
  expect(describeServer(mongos)).toBe('MongoDB 7.0.14, sharded cluster');
});

describe('a server that lacks something the gateway needs', () => {
  it.each<[string, Partial<ServerFacts>, RegExp]>([
    ['MongoDB 4.2', { wireVersion: 8 }, /^does not mark failed writes .*: upgrade to MongoDB 7$/],
    [
      'no majority reads',
      { readsMajority: false },
      /^cannot read majority-committed data: .*enableMajorityReadConcern/,
    ],
    ['a secondary', { isWritable: false }, /^is not the primary: list all members/],
  ])('%s: the message says what is missing and what to do', (_name, change, sentence) => {
    expect(missingAbilities({ ...good, ...change })).toEqual([expect.stringMatching(sentence)]);
  });
});

it('a standalone server works, and is described with what it lacks', () => {
  const facts: ServerFacts = { ...good, topology: 'standalone server' };
  expect(missingAbilities(facts)).toEqual([]);
  expect(limitsOf(facts)).toEqual([
    expect.stringMatching(/^is a standalone server: .*--replSet rs0, and run rs/),
  ]);
});

it.each([
  ['4.2.24', 1],
  ['3.6.0', 1],
  ['4.4.0', 0],
  ['5.0.1', 0],
  ['10.0.0', 0],
])('MongoDB %s lacks %d abilities by its version', (version, count) => {
  expect(missingInVersion(version)).toHaveLength(count);
});
