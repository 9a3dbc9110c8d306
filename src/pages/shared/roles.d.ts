export * from '../../base/role-meanings.js';
