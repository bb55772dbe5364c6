export * from './auth.js';
export { MemoryStorage, memoryStorageDriver } from './MemoryStorage.js';
export * from './repositories.js';
export { type MakeStorageDriver, type StorageUnderTest, storageSuite } from './storage.js';
