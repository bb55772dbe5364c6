// The program of the child process that reads the first bytes of files. It writes an empty line once it is ready, and answers each line
// of JSON with one.
import { createInterface } from 'node:readline';
import { effectivePreviewKind, type PreviewKind, sniff } from '@stowage/rules';

export interface KindRequest {
	/** The kind by the name. */
	named: PreviewKind;
	/** The first bytes of the file in base64. */
	firstBytes: string;
}

export interface KindAnswer {
	/** The kind by the bytes and the name; `unknown` if the bytes are no such file. */
	kind: PreviewKind | 'unknown';
	/** The kind by the bytes alone; left out if they are no file that is known. */
	contentKind?: PreviewKind | undefined;
}

process.stdout.write('\n');
for await (const line of createInterface({ input: process.stdin })) {
	const { named, firstBytes } = JSON.parse(line) as KindRequest;
	const head = Buffer.from(firstBytes, 'base64');
	const found = sniff(head);
	const answer: KindAnswer = {
		kind: effectivePreviewKind(named, head),
		contentKind: found === 'playlist' ? undefined : found,
	};
	process.stdout.write(`${JSON.stringify(answer)}\n`);
}
