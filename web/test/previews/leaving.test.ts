import { QueryClient, QueryObserver } from '@tanstack/react-query';
import test, { type ExecutionContext } from 'ava';
import { rangedBlob } from '../../src/features/previews/common/bytes/rangedBlob.js';
import { tooManyTagsQuery } from '../../src/features/previews/common/tagCount/tooManyTags.js';
import { loadSubtitles } from '../../src/features/previews/video/loadSubtitles.js';

/** Has the page fetch parts of these bytes; resolves to the signals of all requests. */
function serve(t: ExecutionContext, bytes: Uint8Array): (AbortSignal | null | undefined)[] {
	const { fetch } = globalThis;
	t.teardown(() => Object.assign(globalThis, { fetch }));
	const signals: (AbortSignal | null | undefined)[] = [];
	globalThis.fetch = async (_, { headers, signal } = {}) => {
		signals.push(signal);
		await new Promise((resolve) => setTimeout(resolve, 2));
		signal?.throwIfAborted();
		const [, start, end] = /bytes=(\d+)-(\d+)/.exec(new Headers(headers).get('range') ?? '') ?? [];
		if (start === undefined) return new Response(Buffer.from(bytes));
		const range = `bytes ${start}-${end}/${bytes.length}`;
		const part = bytes.subarray(Number(start), Number(end) + 1);
		return new Response(Buffer.from(part), { status: 206, headers: { 'content-range': range } });
	};
	return signals;
}

test.serial('a file that is read by parts is read no more once that is ended', async (t) => {
	const signals = serve(t, new Uint8Array(100));
	const end = new AbortController();
	const blob = rangedBlob('file', 100, '', { blockBytes: 10, signal: end.signal });
	await blob.slice(0, 10).arrayBuffer();
	t.is(signals[0], end.signal);
	end.abort();
	await t.throwsAsync(blob.slice(0, 10).arrayBuffer(), { any: true, instanceOf: DOMException });
	await t.throwsAsync(blob.slice(50, 60).arrayBuffer(), { any: true, instanceOf: DOMException });
	t.is(signals.length, 1);
});

test.serial(
	'the tags of a film are read no more once it is closed, and from the beginning when it is opened again',
	async (t) => {
		// Each box is another request.
		const box = Buffer.concat([Buffer.from('\0\x04\0\0free'), Buffer.alloc(0x3fff8)]);
		const film = Buffer.concat([Buffer.from('\0\0\0\x10ftypisom\0\0\0\0'), ...Array<Buffer>(40).fill(box)]);
		const signals = serve(t, film);
		const client = new QueryClient();
		const query = tooManyTagsQuery({ id: 'film', url: 'film', size: film.length, name: 'film.mp4' });
		const close = new QueryObserver(client, query).subscribe(() => {});
		while (signals.length < 3) await new Promise((resolve) => setImmediate(resolve));
		close();
		const read = signals.length;
		await new Promise((resolve) => setTimeout(resolve, 40));
		t.true(signals.at(-1)?.aborted);
		t.true(signals.length <= read + 1, `${signals.length - read} more`);
		t.is(client.getQueryData(query.queryKey), undefined);
		t.false(await client.fetchQuery(query));
		client.clear();
	},
);

test.serial('subtitles that a film was waiting for when it was closed are made for nobody', async (t) => {
	serve(t, Buffer.from('1\n00:00:01,000 --> 00:00:02,000\nGreetings\n'));
	const entry = { name: 'film.srt', path: 'film.srt', type: 'file', size: 50, mtime: 0 } as const;
	const files = [{ entry, label: '' }];
	const end = new AbortController();
	const load = (detect: () => Promise<'UTF-8'>) => loadSubtitles(files, () => 'film.srt', detect, end.signal);
	const [subtitles] = await load(async () => 'UTF-8');
	t.regex((await subtitles?.content.text()) ?? '', /^WEBVTT[\s\S]*Greetings/);
	const closed = load(async () => {
		end.abort();
		return 'UTF-8';
	});
	await t.throwsAsync(closed, { any: true, instanceOf: DOMException });
});
