import { memoryStorageDriver, storageSuite } from '@stowage/conformance';
import test from 'ava';

storageSuite(test, 'MemoryStorage', async () => ({ driver: memoryStorageDriver() }));

test('a root that was replaced by another one is unavailable', async (t) => {
	const storage = await memoryStorageDriver().open('some other root');
	await t.throwsAsync(storage.check(), { message: /not available/ });
});
