import { MongoServerError, type Db } from 'mongodb';
import { z } from 'zod';
import type { ServerFacts } from '../base/server-abilities.ts';
import { defined } from '../base/defined.ts';
import { durable } from './mongo.ts';

const helloSchema = z.object({
  setName: z.string().optional(),
  msg: z.string().optional(),
  maxWireVersion: z.coerce.number().optional(),
  isWritablePrimary: z.boolean().default(false),
});
const buildInfoSchema = z.object({ version: z.string() });

/**
 * ReadConcernMajorityNotEnabled, and the code that servers return if their storage engine does not support majority
 * reads.
 */
const noMajorityCodes: readonly unknown[] = [148, 238];

export async function readServerFacts(db: Pick<Db, 'command'>): Promise<ServerFacts> {
  const [hello, info, readsMajority] = await Promise.all([
    db.command({ hello: 1 }),
    // The version is only shown in messages, so ignore a missing permission.
    db.command({ buildInfo: 1 }).catch(() => undefined),
    canReadMajority(db),
  ]);
  return factsOf(hello, info, readsMajority);
}

export function factsOf(hello: unknown, buildInfo: unknown, readsMajority: boolean): ServerFacts {
  const { setName, msg, maxWireVersion, isWritablePrimary } = helloSchema.parse(hello);
  const { data } = buildInfoSchema.safeParse(buildInfo);
  const single = setName === undefined ? 'standalone server' : 'replica set';
  return {
    topology: msg === 'isdbgrid' ? 'sharded cluster' : single,
    // The driver has already rejected a server whose wire version is missing or too low.
    wireVersion: maxWireVersion ?? Number.POSITIVE_INFINITY,
    isWritable: isWritablePrimary,
    readsMajority,
    ...defined({ version: data?.version, setName }),
  };
}

async function canReadMajority(db: Pick<Db, 'command'>): Promise<boolean> {
  try {
    await db.command({
      find: 'secrets',
      filter: { _id: 'root' },
      limit: 1,
      singleBatch: true,
      readConcern: durable.readConcern,
    });
    return true;
  } catch (error) {
    if (error instanceof MongoServerError && noMajorityCodes.includes(error.code)) return false;
    throw error;
  }
}
