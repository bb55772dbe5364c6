// The program of the thread that reads the first bytes of files.
import { parentPort } from 'node:worker_threads';
import { effectivePreviewKind, type PreviewKind, sniff } from '@stowage/rules';

export interface KindRequest {
	/** The kind by the name. */
	named: PreviewKind;
	firstBytes: Uint8Array;
}

export interface KindAnswer {
	/** By the bytes and the name; `unknown` if the bytes are no such file. */
	kind: PreviewKind | 'unknown';
	/** By the bytes alone. */
	contentKind: PreviewKind | undefined;
}

parentPort?.on('message', ({ named, firstBytes }: KindRequest) => {
	const found = sniff(firstBytes);
	const contentKind = found === 'playlist' ? undefined : found;
	parentPort?.postMessage({ kind: effectivePreviewKind(named, firstBytes), contentKind } satisfies KindAnswer);
});
