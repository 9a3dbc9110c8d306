export const taskKinds = ['video', 'image'] as const;

export type TaskKind = (typeof taskKinds)[number];
