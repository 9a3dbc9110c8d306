export type TaskKind = 'video' | 'image';
