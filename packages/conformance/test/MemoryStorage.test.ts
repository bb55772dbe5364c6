import { memoryStorageDriver, storageSuite } from '@stowage/conformance';
import test from 'ava';

storageSuite(test, 'MemoryStorage', async () => ({ driver: memoryStorageDriver() }));

test('a root that another one took the place of is unavailable', async (t) => {
	const storage = await memoryStorageDriver().open('some other root');
	await t.throwsAsync(storage.check(), { message: /not available/ });
});
