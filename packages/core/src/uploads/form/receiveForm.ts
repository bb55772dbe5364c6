import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import type { StagedFile } from '@stowage/plugin-api';
import { addTo, Failure } from '@stowage/rules';
import type { Checksum } from '../checksum.js';
import { createFormParser } from './formParser.js';
import { decodeUtf8 } from './partHeader.js';

/** A file of a form, on disk but not yet published. */
export interface ReceivedFile {
	staged: StagedFile;
	/** The unmodified file name in the part's header. */
	name: string;
}

export type FormFields = ReadonlyMap<string, readonly string[]>;

export interface ReceivedForm {
	fields: FormFields;
	files: readonly ReceivedFile[];
}

export interface FormOptions {
	/** Names of the fields that are allowed beside `file`. */
	fields: readonly string[];
	/** Bytes; 0 for no limit. */
	maxFileSize: number;
	/** The expected checksum of the file; a second file is refused then. */
	digest: Checksum | undefined;
	/** The body of the request as it arrives. */
	body: AsyncIterable<Uint8Array>;
	stage(): Promise<StagedFile>;
	/** Called before the first byte of each file, with the fields before it; an error ends the upload. */
	beforeFile(fields: FormFields, name: string): Promise<void>;
}

/** All fields together; a path may be long, the rest never is. */
const maxFieldBytes = 256 * 1024;

/**
 * Streams a multipart form to staged files, in the order of its parts and never whole in memory. When it fails, every
 * staged file is discarded and the rest of the body stays unread.
 */
export async function receiveForm(request: IncomingMessage, rules: FormOptions): Promise<ReceivedForm> {
	const fields = new Map<string, string[]>();
	const files: ReceivedFile[] = [];
	const complete = new Map<StagedFile, number>();
	try {
		await whileTouched(complete, () => readParts(request, rules, { fields, files, complete }));
		if (files.length > 0) rules.digest?.assertMatch();
		return { fields, files };
	} catch (error) {
		await discardAll(files);
		throw error;
	}
}

/** How often complete files are touched: one that is not used for a day is swept, and those after it may take longer. */
const touchMs = 60 * 60_000;

/** Keeps complete staged files from being swept while work runs. */
async function whileTouched(complete: ReadonlyMap<StagedFile, number>, work: () => Promise<void>): Promise<void> {
	let touching: Promise<void> | undefined;
	const touchAll = async () => {
		// One that can't be touched now may be in an hour.
		for (const [staged, size] of complete) await staged.append(emptyBody(), size).catch(() => {});
		touching = undefined;
	};
	const timer = setInterval(() => {
		touching ??= touchAll();
	}, touchMs).unref();
	try {
		await work();
	} finally {
		clearInterval(timer);
		await touching;
	}
}

async function* emptyBody(): AsyncGenerator<Uint8Array> {}

/** The parts that were read so far. */
interface Parts {
	fields: Map<string, string[]>;
	files: ReceivedFile[];
	/** The staged files that have all of their bytes, with their sizes. */
	complete: Map<StagedFile, number>;
}

async function readParts(request: IncomingMessage, rules: FormOptions, parts: Parts): Promise<void> {
	const { fields } = parts;
	let fail = (_error: unknown): void => {};
	const { parser, part, stop } = createFormParser(request, (error) => fail(error));
	let hasFailed = false;
	let fieldBytes = 0;
	let work: Promise<void> = Promise.resolve();
	let goOn = () => {};
	const finished = new Promise<void>((resolve, reject) => {
		fail = (error) => {
			hasFailed = true;
			stop();
			goOn();
			reject(error);
		};
		parser.on('field', (_, bytes, { valueTruncated }) => {
			if (hasFailed) return;
			const { name } = part();
			if (!rules.fields.includes(name)) return fail(new Failure('invalid', `Unknown field: ${name}`));
			fieldBytes += name.length + bytes.length;
			if (fieldBytes > maxFieldBytes) return fail(new Failure('tooLarge', 'The fields of the form are too long.'));
			if (valueTruncated) return fail(new Failure('invalid', `${name}: is too long`));
			try {
				addTo(fields, name, decodeUtf8(Buffer.from(bytes, 'latin1')));
			} catch (error) {
				fail(error);
			}
		});
		parser.on('file', (_, stream) => {
			const { name, fileName = '' } = part();
			// An error of the stream reaches us through the loop that reads it; without a listener it would end the process.
			stream.on('error', (cause: NodeJS.ErrnoException) => {
				// The loop has left its stream; the loop itself throws the reason, maybe later.
				if (cause.code === 'ABORT_ERR') return;
				fail(new Failure('invalid', 'The form is not valid multipart/form-data.', { cause }));
			});
			// Small files arrive many at once; after a refusal none of those that wait is begun.
			work = work.then(() => (hasFailed ? undefined : receiveFile(name, stream, fileName, rules, parts))).catch(fail);
		});
		for (const event of ['filesLimit', 'fieldsLimit', 'partsLimit'] as const) {
			parser.on(event, () => fail(new Failure('invalid', 'The form has too many parts.')));
		}
		parser.on('error', (cause: unknown) =>
			fail(new Failure('invalid', 'The form is not valid multipart/form-data.', { cause })),
		);
		parser.on('close', () => void work.then(resolve));
		parser.on('drain', () => goOn());
		const feed = async () => {
			for await (const chunk of rules.body) {
				if (hasFailed) return;
				const isDrained = parser.write(chunk);
				// An error of a part is found while it is written.
				if (!isDrained && !hasFailed) {
					await new Promise<void>((resolve) => {
						goOn = resolve;
					});
				}
				if (hasFailed) return;
			}
			if (!hasFailed) parser.end();
		};
		feed().catch(fail);
	});
	try {
		await finished;
	} catch (error) {
		parser.destroy();
		// The file under way still locks its staged file: the lock has to be released before it is discarded.
		await work;
		throw error;
	}
}

async function receiveFile(
	field: string,
	stream: Readable,
	name: string,
	rules: FormOptions,
	{ fields, files, complete }: Parts,
): Promise<void> {
	if (field !== 'file') throw new Failure('invalid', `Unknown field: ${field}`);
	if (rules.digest !== undefined && files.length > 0) {
		throw new Failure('invalid', 'Stowage-File-Digest: is for a single file');
	}
	await rules.beforeFile(fields, name);
	const staged = await rules.stage();
	files.push({ staged, name });
	const body = rules.maxFileSize === 0 ? stream : limitSize(stream, rules.maxFileSize);
	complete.set(staged, await staged.append(rules.digest?.through(body) ?? body, 0));
}

async function* limitSize(body: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<Uint8Array> {
	let size = 0;
	for await (const chunk of body) {
		size += chunk.length;
		if (size > maxBytes) throw new Failure('tooLarge', `The file is larger than ${maxBytes} bytes.`);
		yield chunk;
	}
}

/**
 * Discards the staged files of a failed upload. Files that can't be removed now are swept later: the caller is to get
 * the reason why the upload failed.
 */
export async function discardAll(received: readonly { staged: StagedFile }[]): Promise<void> {
	await Promise.allSettled(received.map(({ staged }) => staged.discard()));
}
