import type { StagedFile } from '@stowage/plugin-api';

/** Called with the bytes of an upload as they arrive. */
export interface ByteMeter {
	/** Before each chunk is written. An error ends the upload before that chunk. */
	arrived(bytes: number): Promise<void> | void;
	/** Once, at the end of the body, also after an error. An error after the last byte ends the upload as well. */
	ended(): Promise<void> | void;
}

/**
 * The same staged file with all its abilities; the meters that are begun for each body are called with its bytes. What
 * a program of its own writes, no meter sees.
 */
export function metered(staged: StagedFile, begin: () => readonly ByteMeter[]): StagedFile {
	return wrapStaged(staged, (each) => ({ append: (body, at) => each.append(through(body, begin()), at) }));
}

/** The same staged file, and each that is forked from it, with some of its calls replaced. */
export function wrapStaged(staged: StagedFile, replace: (staged: StagedFile) => Partial<StagedFile>): StagedFile {
	const { lock, fork, withLocalFile } = staged;
	return {
		id: staged.id,
		size: () => staged.size(),
		append: (body, at) => staged.append(body, at),
		sync: () => staged.sync(),
		commit: (path, options) => staged.commit(path, options),
		discard: () => staged.discard(),
		...(lock && { lock: () => lock.call(staged) }),
		...(fork && { fork: async (size) => wrapStaged(await fork.call(staged, size), replace) }),
		...(withLocalFile && { withLocalFile: (use) => withLocalFile.call(staged, use) as never }),
		...replace(staged),
	};
}

async function* through(body: AsyncIterable<Uint8Array>, meters: readonly ByteMeter[]): AsyncGenerator<Uint8Array> {
	const endAll = () => Promise.allSettled(meters.map(async (meter) => meter.ended()));
	let isWhole = false;
	try {
		for await (const chunk of body) {
			for (const meter of meters) await meter.arrived(chunk.length);
			yield chunk;
		}
		isWhole = true;
		for (const end of await endAll()) if (end.status === 'rejected') throw end.reason;
	} finally {
		// The error of the body takes precedence.
		if (!isWhole) await endAll();
	}
}
