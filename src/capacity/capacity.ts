import { periods } from '../base/periods.ts';
import type { GatewayConfig } from '../config/gateway-file.ts';
import { isConfigured, type RouteCandidate } from '../task/candidates.ts';
import type { ChannelHealthStore } from '../store/channel-health.ts';
import type { SlotStore } from '../store/slots.ts';
import { createCircuitWakes, type CircuitWakesDeps } from './circuit-wakes.ts';
import { createCircuits, type Circuits } from './circuits.ts';
import type { CircuitRecord } from '../health/circuit-rules.ts';
import { createSlotKeeper, type SlotKeeper } from './slot-keeper.ts';

export interface Health {
  readonly circuits: Circuits;
  readonly slots: SlotKeeper;
}

export interface HealthDeps {
  readonly channelHealth: ChannelHealthStore;
  readonly slotStore: SlotStore;
  readonly config: () => GatewayConfig;
  readonly wake: (task: string) => Promise<void>;
  readonly waitingFor: CircuitWakesDeps['list'];
  readonly onCircuit: (id: string, record: CircuitRecord) => void;
  readonly onError: (error: unknown) => void;
  readonly now: () => number;
  readonly random: () => number;
}

export function createHealth(deps: HealthDeps): Health {
  const { config, now, random, wake } = deps;
  const circuitClosed = createCircuitWakes({
    settleMs: 2 * periods.circuits.everyMs,
    list: deps.waitingFor,
    wake,
    isOpen: (id) => circuits.isOpen(id),
    onError: deps.onError,
  });
  const circuits = createCircuits({
    store: deps.channelHealth,
    now,
    onChange: (id, record) => {
      deps.onCircuit(id, record);
      if (record.state === 'closed') void circuitClosed(id);
    },
    onError: deps.onError,
  });
  const slots = createSlotKeeper({
    store: deps.slotStore,
    limitOf: (candidate) => limitOf(config(), candidate),
    limited: () => allCandidates(config()).filter((candidate) => limitOf(config(), candidate) !== undefined),
    isUsable: (candidate, model) =>
      isConfigured(config().channels, candidate, model) &&
      circuits.outage({ ...candidate, model: model ?? '' }) === undefined,
    wake,
    now,
    random,
  });
  return { circuits, slots };
}

function limitOf({ channels }: GatewayConfig, { channel }: RouteCandidate): number | undefined {
  return channels.find(({ id }) => id === channel)?.limits.concurrent_tasks;
}

function allCandidates({ channels }: GatewayConfig): RouteCandidate[] {
  return channels.flatMap(({ id, credentials }) =>
    credentials.map((credential) => ({ channel: id, credential: credential.id })),
  );
}
