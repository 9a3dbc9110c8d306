import type { Db } from 'mongodb';
import { Long } from 'mongodb';
import { Agent, request } from 'undici';

export interface NaiveInput {
  readonly task: string;
  readonly account: string;
  readonly prompt: string;
  /** Empty: nobody is told. */
  readonly callbackUrl: string;
}

interface NaiveOutcome {
  readonly url: string;
  readonly tokens: number;
}

export type NaiveActivities = ReturnType<typeof createNaiveActivities>;

interface Document {
  readonly _id: string;
}

const hold = Long.fromNumber(762_300);
/** Micro-units for a thousand tokens. */
const price = 7_000;

/** One activity per step; the writes carry the same facts as the gateway's, without its hash chain and guards. */
export function createNaiveActivities(db: Db, upstreamUrl: string, apiKey: string) {
  const options = { writeConcern: { w: 'majority' } } as const;
  const tasks = db.collection<Document>('tasks', options);
  const requests = db.collection<Document>('requests', options);
  const attempts = db.collection<Document>('attempts', options);
  const ledger = db.collection<Document>('ledger', options);
  const dispatcher = new Agent({ keepAliveTimeout: 60_000 });
  const call = async (path: string, body?: unknown): Promise<Record<string, unknown>> => {
    const answer = await request(`${upstreamUrl}/ark/api/v3/contents/generations/tasks${path}`, {
      dispatcher,
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.body.text();
    if (answer.statusCode !== 200) throw new Error(`upstream: ${answer.statusCode} ${text}`);
    return JSON.parse(text) as Record<string, unknown>;
  };
  return {
    async reserve({ task, account, prompt, callbackUrl }: NaiveInput): Promise<void> {
      const at = Date.now();
      await requests.insertOne({ _id: task, account, body: prompt, callbackUrl, at } as Document);
      await ledger.insertOne({ _id: `${task}:hold`, account, kind: 'hold', amount: hold, at } as Document);
      await tasks.insertOne({ _id: task, account, status: 'pending', created_at: at } as Document);
    },

    async submit({ task, prompt }: NaiveInput): Promise<string> {
      const attempt = `${task}:1`;
      await attempts.insertOne({ _id: attempt, task, state: 'sending', at: Date.now() } as Document);
      const { id } = await call('', {
        model: 'dreamina-seedance-2-0-260128',
        content: [{ type: 'text', text: prompt }],
        duration: 5,
        resolution: '720p',
        ratio: '16:9',
      });
      const upstreamId = String(id);
      const state = { state: 'accepted', upstream_id: upstreamId, ended_at: Date.now() };
      await attempts.updateOne({ _id: attempt }, { $set: state });
      await tasks.updateOne({ _id: task }, { $set: { status: 'submitted', upstream_id: upstreamId } });
      return upstreamId;
    },

    async poll({ task }: NaiveInput, upstreamId: string): Promise<NaiveOutcome | undefined> {
      const answer = await call(`/${upstreamId}`);
      if (answer['status'] !== 'succeeded') return undefined;
      const content = answer['content'] as { video_url: string };
      const usage = answer['usage'] as { total_tokens: number };
      const outcome = { url: content.video_url, tokens: usage.total_tokens };
      await tasks.updateOne({ _id: task }, { $set: { status: 'running', outcome, updated_at: Date.now() } });
      return outcome;
    },

    async settle({ task, account }: NaiveInput, { tokens }: NaiveOutcome): Promise<void> {
      const amount = Long.fromNumber(Math.round((tokens * price) / 1000));
      const entry = { _id: `${task}:settle`, account, kind: 'settle', amount, tokens, at: Date.now() };
      await ledger.insertOne(entry);
    },

    async save({ task }: NaiveInput, { url }: NaiveOutcome): Promise<void> {
      const at = Date.now();
      const done = { status: 'succeeded', url, completed_at: at, updated_at: at };
      await tasks.updateOne({ _id: task }, { $set: done });
    },

    async notify({ task, callbackUrl }: NaiveInput, { url }: NaiveOutcome): Promise<void> {
      if (callbackUrl === '') return;
      const { statusCode, body } = await request(callbackUrl, {
        dispatcher,
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ id: task, status: 'succeeded', url }),
      });
      await body.dump();
      if (statusCode >= 300) throw new Error(`callback: ${statusCode}`);
      await tasks.updateOne({ _id: task }, { $set: { callback: { state: 'delivered', at: Date.now() } } });
    },
  };
}
