import { hasWatch, type StorageProvider } from '@stowage/plugin-api';
import { rootPath } from '@stowage/rules';

/**
 * How changes of a storage's folders are noticed: as the system reports them, or by polling, because it allows no more
 * watches or because it can't report them.
 */
export async function checkWatch(storage: StorageProvider): Promise<'watched' | 'limitReached' | 'polled'> {
	if (!hasWatch(storage)) return 'polled';
	let isLimitReached = false;
	const watch = await storage.watch(rootPath, {
		onChange() {},
		onEnd() {},
		onLimitReached() {
			isLimitReached = true;
		},
	});
	watch?.close();
	return watch !== undefined ? 'watched' : isLimitReached ? 'limitReached' : 'polled';
}
