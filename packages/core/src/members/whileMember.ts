import type { Held } from './HeldAccess.js';
import { notSharedAnyMore, type SharedFolders } from './SharedFolders.js';

type Folders = Pick<SharedFolders, 'held'>;

/** What `work` resolves to, if the member still has the role then. Its signal fires once that is lost. */
export async function whileMember<T>(
	folders: Folders,
	held: Held,
	work: (signal: AbortSignal) => Promise<T>,
	signal?: AbortSignal,
): Promise<T> {
	const lost = new AbortController();
	const leave = folders.held.hold(held, () => lost.abort(notSharedAnyMore()));
	try {
		const found = await work(signal === undefined ? lost.signal : AbortSignal.any([lost.signal, signal]));
		lost.signal.throwIfAborted();
		return found;
	} finally {
		leave();
	}
}

/** Passes the parts on until the member's role is lost: then no more is read. */
export async function* readWhileMember<T>(folders: Folders, held: Held, parts: AsyncIterable<T>): AsyncGenerator<T> {
	let isLost = false;
	const leave = folders.held.hold(held, () => {
		isLost = true;
	});
	try {
		for await (const part of parts) {
			if (isLost) throw notSharedAnyMore();
			yield part;
		}
	} finally {
		leave();
	}
}
