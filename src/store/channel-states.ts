import type { Collection, Db } from 'mongodb';
import { isDuplicateKey } from './mongo.ts';

/** An operator's switch. Off takes the channel out of service; on leaves the decision to the configuration file. */
export interface ChannelStateDocument {
  /** The channel's id. */
  readonly _id: string;
  readonly enabled: boolean;
  readonly by: string;
  readonly reason: string;
  /** Unix milliseconds. */
  readonly at: number;
}

export type ChannelStateStore = ReturnType<typeof createChannelStateStore>;

export function createChannelStateStore(db: Db) {
  const states: Collection<ChannelStateDocument> = db.collection<ChannelStateDocument>('channel_states');
  return {
    /** As many as there are channels. */
    async list(): Promise<ChannelStateDocument[]> {
      return states.find().toArray();
    },

    async set(state: ChannelStateDocument): Promise<void> {
      const { _id, ...fields } = state;
      try {
        await states.updateOne({ _id }, { $set: fields }, { upsert: true });
      } catch (error) {
        if (!isDuplicateKey(error)) throw error;
        await states.updateOne({ _id }, { $set: fields });
      }
    },
  };
}
