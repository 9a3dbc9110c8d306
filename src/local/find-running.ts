import { setTimeout as delay } from 'node:timers/promises';
import { request } from 'undici';
import { readLocalSettings, runningApiUrl } from '../config/local-settings.ts';
import { probe, probeTimeoutMs } from './start-gateway.ts';

const retryMs = 500;

/** A gateway that is running in local mode on this data directory and accepts the directory's key. */
export interface RunningGateway {
  readonly apiUrl: string;
  readonly apiKey: string;
}

/** Returns a gateway that responds. It may still not be ready, for example because Temporal or a worker is slow. */
export async function findAnswering(dataDir: string): Promise<RunningGateway | undefined> {
  const settings = await readLocalSettings(dataDir);
  const apiUrl = settings && (await runningApiUrl(settings));
  const apiKey = settings?.apiKey;
  if (apiUrl === undefined || apiKey === undefined) return undefined;
  try {
    const { statusCode, body } = await request(`${apiUrl}/v1/balance`, {
      headers: { authorization: `Bearer ${apiKey}` },
      headersTimeout: probeTimeoutMs,
      bodyTimeout: probeTimeoutMs,
    });
    await body.dump();
    return statusCode === 200 ? { apiUrl, apiKey } : undefined;
  } catch {
    return undefined;
  }
}

export async function findRunning(dataDir: string): Promise<RunningGateway | undefined> {
  const found = await findAnswering(dataDir);
  try {
    if (found !== undefined) await probe(found.apiUrl);
    return found;
  } catch {
    return undefined;
  }
}

export async function waitForRunning(
  dataDir: string,
  deadlineMs: number,
): Promise<RunningGateway | undefined> {
  for (const endsAt = Date.now() + deadlineMs; Date.now() < endsAt; await delay(retryMs)) {
    const running = await findRunning(dataDir);
    if (running !== undefined) return running;
  }
  return undefined;
}
