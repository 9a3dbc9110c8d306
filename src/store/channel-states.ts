import type { Db } from 'mongodb';
import { durable, openCollection, repeatOnDuplicate, updateWith } from './mongo.ts';

/** An operator's switch. "Off" deactivates the channel. "On" leaves the decision to the configuration file. */
export interface ChannelState {
  readonly id: string;
  readonly enabled: boolean;
  readonly by: string;
  readonly reason: string;
  readonly at: number;
}

interface ChannelStateDocument extends Omit<ChannelState, 'id'> {
  readonly _id: string;
}

export type ChannelStateStore = ReturnType<typeof createChannelStateStore>;

export function createChannelStateStore(db: Db) {
  const states = openCollection<ChannelStateDocument>(db, 'channel_states', durable);
  return {
    async list(): Promise<ChannelState[]> {
      return (await states.find().toArray()).map(({ _id: id, ...state }) => ({ id, ...state }));
    },

    async set({ id: _id, ...fields }: ChannelState): Promise<void> {
      await repeatOnDuplicate(() =>
        states.updateOne({ _id }, updateWith({ $set: fields }), { upsert: true }),
      );
    },
  };
}
