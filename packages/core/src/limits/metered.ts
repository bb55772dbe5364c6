import type { StagedFile } from '@stowage/plugin-api';

/** Is told of the bytes of an upload as they arrive. */
export interface ByteMeter {
	/** Before each chunk is written; what it throws ends the upload before that chunk. */
	arrived(bytes: number): Promise<void> | void;
	/** Once no more will come, however it ended. What it throws after the last byte ends the upload as well. */
	ended(): Promise<void> | void;
}

/** The same file, whose bytes these meters are told of. */
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
			// Of a body that failed, its own error is told.
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
