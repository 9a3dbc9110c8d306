import { randomBytes } from 'node:crypto';
import { connectMongo, type Mongo } from '../../src/store/mongo.ts';
import { databaseUri } from '../support/run-servers.ts';

export async function openDatabase(): Promise<Mongo & { drop(): Promise<void> }> {
  const name = `r${randomBytes(5).toString('hex')}`;
  const mongo = await connectMongo(databaseUri(name));
  return {
    ...mongo,
    async drop() {
      await mongo.db.dropDatabase();
      await mongo.close();
    },
  };
}
