import type { StagedFile } from '@stowage/plugin-api';

/** Called with the bytes of an upload as they arrive. */
export interface ByteMeter {
	/** Called before each chunk is written. An error ends the upload before that chunk. */
	arrived(bytes: number): Promise<void> | void;
	/** Once, at the end of the body, also after an error. An error after the last byte ends the upload as well. */
	ended(): Promise<void> | void;
}

type BeginMeters = () => readonly ByteMeter[];

/** Staged files that are metered, as they are without that. */
const plain = new WeakMap<StagedFile, { staged: StagedFile; begin: BeginMeters }>();

/**
 * Wraps the staged file with all its abilities: `begin` makes the meters of each body, which are called with its bytes.
 * What another program writes to the file is not metered.
 */
export function metered(staged: StagedFile, begin: BeginMeters): StagedFile {
	const inner = plain.get(staged);
	// Each chunk goes through all meters in one loop.
	if (inner !== undefined) return metered(inner.staged, () => [...begin(), ...inner.begin()]);
	const wrapped = wrapStaged(staged, (each) => ({
		append: (body, at) => each.append(through(body, begin()), at),
	}));
	plain.set(wrapped, { staged, begin });
	return wrapped;
}

/** Wraps the staged file, and each that is forked from it, with some of its calls replaced. */
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
	let isWhole = false;
	try {
		for await (const chunk of body) {
			for (const meter of meters) {
				const arrived = meter.arrived(chunk.length);
				if (arrived !== undefined) await arrived;
			}
			yield chunk;
		}
		isWhole = true;
		await endAll(meters);
	} finally {
		// The error of the body takes precedence.
		if (!isWhole) await endAll(meters).catch(() => {});
	}
}

/** Throws the first error once all have ended. */
async function endAll(meters: readonly ByteMeter[]): Promise<void> {
	let fault: { error: unknown } | undefined;
	for (const meter of meters) {
		try {
			const ended = meter.ended();
			if (ended !== undefined) await ended;
		} catch (error) {
			fault ??= { error };
		}
	}
	if (fault !== undefined) throw fault.error;
}
