import { describeServer, limitsOf, requireAbilities } from '../base/server-abilities.ts';
import { ConfigError } from '../config/config-error.ts';
import type { Logger } from '../observability/log.ts';
import { connectMongo, MongoAddressError, type Mongo } from '../store/mongo.ts';
import { readServerFacts } from '../store/server-facts.ts';

/**
 * Logs the server's version and what it lacks.
 * @throws ServerAbilityError if the gateway cannot use the server
 */
export async function openMongo(uri: string, log: Logger): Promise<Mongo> {
  const mongo = await connectMongo(uri, { appName: 'mediary' }).catch((error: unknown) => {
    if (!(error instanceof MongoAddressError)) throw error;
    throw new ConfigError('The environment', [`MONGODB_URI: ${error.message}`]);
  });
  try {
    const facts = await readServerFacts(mongo.db);
    log.info({}, describeServer(facts));
    requireAbilities(facts);
    for (const limit of limitsOf(facts)) log.warn({}, `MongoDB ${limit}`);
    return mongo;
  } catch (error) {
    await mongo.close();
    throw error;
  }
}
