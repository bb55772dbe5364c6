import type { StagedFile } from '@stowage/plugin-api';

/** Called with the bytes of an upload as they arrive. */
export interface ByteMeter {
	/** Before each chunk is written. An error ends the upload before that chunk. */
	arrived(bytes: number): Promise<void> | void;
	/** Once, at the end of the body, also after an error. An error after the last byte ends the upload as well. */
	ended(): Promise<void> | void;
}

/** The same staged file; these meters are called with its bytes. */
export function metered(staged: StagedFile, meters: readonly ByteMeter[]): StagedFile {
	async function* through(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
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
	const endAll = () => Promise.allSettled(meters.map(async (meter) => meter.ended()));
	return {
		id: staged.id,
		size: () => staged.size(),
		append: (body, at) => staged.append(through(body), at),
		sync: () => staged.sync(),
		commit: (path, options) => staged.commit(path, options),
		discard: () => staged.discard(),
	};
}
