import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { json } from '../../../packages/core/test/testApp.js';
import { atMost } from '../../../test/atMost.js';
import { usualMs } from '../../../test/processorTime.js';
import type { Film, SubtitleTrack } from '../src/films/probing/Film.js';
import { lostLines, readLines, subtitleReader } from '../src/films/subtitles/lines.js';
import { convert, endAll, film, h264, picture, siteOfUser, subtitles } from './conversions.js';

atMost(4);
test.after.always(endAll);

const { signal } = new AbortController();

type Kind = SubtitleTrack['kind'];
const tracks = (...kinds: readonly Kind[]) => kinds.map((kind, n) => ({ index: n + 2, kind }));

function dump(text: Buffer | string): string[] {
	const bytes = Buffer.from(text as string);
	const rows = Array.from({ length: Math.ceil(bytes.length / 16) }, (_, n) => bytes.subarray(16 * n, 16 * n + 16));
	const digits = (row: Buffer) => (row.toString('hex').match(/.{1,4}/g) ?? []).join(' ');
	return rows.map(
		(row, n) => `${(16 * n).toString(16).padStart(8, '0')}: ${digits(row).padEnd(40)} ${'.'.repeat(row.length)}`,
	);
}

const packet = (stream: number, text: Buffer | string, ...more: readonly string[]) => [
	...['[PACKET]', `stream_index=${stream}`, 'flags=K_', 'data=', ...dump(text), '', ...more, '[/PACKET]'],
];

const stream = (index: number, description: Buffer) => [
	...['[STREAM]', `index=${index}`, 'extradata=', ...dump(description), '', '[/STREAM]'],
];

function linesOf(kinds: readonly Kind[], ...printed: readonly (readonly string[])[]) {
	const { take, read } = subtitleReader(tracks(...kinds));
	for (const line of printed.flat()) take(line);
	return read();
}

/** A sample of MP4 with boxes behind its text. */
function sample(text: Buffer | string, ...boxes: readonly Buffer[]): Buffer {
	const bytes = Buffer.from(text as string);
	return Buffer.concat([Buffer.from([bytes.length >> 8, bytes.length & 255]), bytes, ...boxes]);
}

function box(name: string, ...content: readonly number[]): Buffer {
	const bytes = Buffer.from([0, 0, 0, 8 + content.length, 0, 0, 0, 0, ...content]);
	bytes.write(name, 4, 'latin1');
	return bytes;
}

const style = (font: number, size: number) => [0, 0, 0, 4, 0, font, 0, size, 255, 255, 255, 255];
/** What is said of all samples of a track: its flags, where they are, and their font. */
const description = (flags: number, place: readonly number[] = [1, 0xff], size = 16) =>
	Buffer.from([flags, 0, 0, 0, ...place, 0, 0, 0, 255, ...Array.from({ length: 8 }, () => 0), ...style(1, size)]);

test('lines of subtitles that have a place, an effect or a font are counted by what ffprobe prints of their packets', async (t) => {
	const count = (kinds: readonly Kind[], ...packets: readonly (readonly string[])[]) =>
		linesOf(kinds, ...packets)?.placed;
	const text = (...lines: readonly string[]) => count(['text'], ...lines.map((line) => packet(2, line)));
	t.is(text('{\\an8}Top sign', 'Below', '{\\pos(40,20)}Placed'), 2);
	t.is(text('A longer text, {\\i1\\an4}behind others', '{\\fad(200,200)}Fades'), 2);
	t.is(
		text('<font face="Papyrus" size="48">Dear Ida,</font>', '<s>never</s>', '{\\fs60\\fnCourier New}always{\\r}'),
		3,
	);
	t.is(count(['ASS'], packet(2, '0,0,Default,,0,0,0,,{\\an8}Top sign\0')), 1);
	// Where all are, what is kept in each format, what looks like it, and what is no text.
	t.is(
		text(
			'{\\an2}Below',
			'{\\i1}it{\\i0\\c&HFF&}red{\\c} \\an8 {an8} {sighs}',
			'{\\an8 no end',
			'<font color=red>x</font>',
		),
		0,
	);
	t.is(count(['text'], packet(3, '{\\an8}Top sign'), packet(2, '')), 0);
	const settings = ['[SIDE_DATA]', 'side_data_type=WebVTT Settings', ...dump('line:0'), '[/SIDE_DATA]'];
	t.is(count(['WebVTT'], packet(2, 'Top', ...settings), packet(1, 'Top', ...settings), packet(2, 'Below')), 1);
	t.is(text('{'.repeat(60_000), '{\\i1}'.repeat(12_000), '<font '.repeat(10_000)), 0);
	const ends = (code: number) => ({ run: async () => ({ code, output: '', log: [] }) }) as never;
	t.is((await readLines(ends(1), 3, { subtitleTracks: tracks('pictures') }, signal))?.placed, 0);
	t.is(await readLines(ends(1), 3, { subtitleTracks: tracks('text') }, signal), undefined);
	t.is((await readLines(ends(0), 3, { subtitleTracks: tracks('text') }, signal))?.placed, 0);
});

test('so are samples of MP4 with boxes other than those of styles, or with another font than all', (t) => {
	const count = (told: Buffer, ...samples: readonly Buffer[]) =>
		linesOf(['text of MP4'], ...samples.map((each) => packet(2, each)), stream(2, told))?.placed;
	const styled = (size: number) => sample('Sign', box('styl', 0, 1, ...style(1, size)));
	const empty = sample('');
	t.is(count(description(0), sample('Top', box('tbox', 0, 0, 0, 0, 0, 40, 1, 64)), sample('Below'), empty), 1);
	t.is(count(description(0), styled(16), sample('Ä', box('encd', 0, 0, 1, 0)), empty), 0);
	t.is(count(description(0), styled(48), styled(16), empty), 1);
	t.is(count(description(0, [1, 0xff], 12), styled(12), empty), 0);
	t.is(count(description(0, [1, 0]), styled(16), sample('Below'), empty), 2);
	t.is(count(description(0, [0, 0]), styled(16)), 0);
	t.is(count(Buffer.alloc(3), sample('x'), Buffer.from([0]), Buffer.from([0, 9, 65])), 0);
});

async function lost(before: readonly [Kind, ...(Buffer | string)[]], after: readonly [Kind, ...(Buffer | string)[]]) {
	const [original, output] = [before, after].map(([kind, ...lines]) => {
		const found = linesOf([kind], ...lines.map((line) => packet(2, line)));
		return { film: { subtitleTracks: tracks(kind), named: { audio: [], subtitles: [] } }, lines: found };
	});
	if (original?.lines === undefined || output?.lines === undefined) return undefined;
	const found = { ...output, lines: output.lines };
	return (await lostLines({ ...original, lines: original.lines }, found, signal)).changed[0];
}

const ass = (text: string) => `0,0,Default,,0,0,0,,${text}\0`;

test('words that are shown by subtitles are found again in another format, and those that are not are counted', async (t) => {
	t.is(
		await lost(['text', '<i>Hello</i>, <FONT color="#f00">Ida</FONT> {\\an8}'], ['text of MP4', sample('Hello, Ida')]),
		0,
	);
	t.is(
		await lost(
			['text', '♪ Zwölf &amp; <3 ♪\r\n- 日本<br/>语'],
			['ASS', ass('{\\i1}♪ Zwölf{\\r} &amp; <3 ♪\\N- 日本\\N语')],
		),
		0,
	);
	t.is(await lost(['text of MP4', sample('Uno'), sample('')], ['ASS', ass('{\\i1}Uno')]), 0);
	t.is(await lost(['text of MP4', sample(Buffer.from('feff00c4', 'hex'))], ['text of MP4', sample('Ä')]), 0);
	t.is(await lost(['WebVTT', '<v Bob>a &lt;&amp;&nbsp;b</v>'], ['text', 'a <& b']), 0);
	// Of lines that overlap the encoder makes one besides.
	t.is(await lost(['text', 'A', 'B'], ['text of MP4', sample('A'), sample('A\nB'), sample('A')]), 0);
	t.is(await lost(['text', '{sighs} I know. {door}Listen!'], ['text of MP4', sample('Listen!')]), 1);
	t.is(await lost(['text', '{sighs} I know.', 'Yes'], ['ASS', ass('{sighs} I know.'), ass('Yes')]), 1);
	t.is(await lost(['text', '<Anna> Come.\n<Bob> No.'], ['ASS', ass(' Come.\\N No.')]), 2);
	t.is(await lost(['text', 'C:\\new\\home'], ['ASS', ass('C:\\new\\home')]), 1);
	t.is(await lost(['text', 'Yes', 'Yes'], ['text', 'Yes']), 1);
	t.is(await lost(['ASS', ass('{a comment}{\\p1}m 0 0{\\p0}Yes')], ['ASS', ass('{a comment}{\\p1}m 0 0{\\p0}Yes')]), 0);
	const hidden = linesOf(
		['text'],
		packet(2, 'x').map((line) => line.replace('K_', 'KD')),
	);
	t.deepEqual(
		[...(hidden?.tracks.values() ?? [])].map(({ rows }) => rows.size),
		[0],
	);
});

test('a line of subtitles takes a moment, whatever it consists of, and a longer one than any is not compared', async (t) => {
	const ms = await usualMs(async () => {
		for (const kind of ['text', 'ASS', 'WebVTT'] as const)
			for (const part of ['{', '{\\', '<', '<b ', '<br ', '&am', ',', '\\N', '\n', ' ', '{\\i1'])
				t.is(await lost([kind, part.repeat(60_000 / part.length)], [kind, part.repeat(60_000 / part.length)]), 0);
	});
	t.true(ms < 5000, `${ms} ms`);
	t.is(await lost(['text', 'x'.repeat(70_000)], ['text', 'x']), undefined);
	// The styles of a track of ASS are no line, and are not compared.
	const styles = stream(2, Buffer.alloc(70_000, 'Style: Sign\n'));
	t.is(linesOf(['ASS'], packet(2, '0,0,Sign,,0,0,0,,Exit'), styles)?.tracks.get(2)?.rows.size, 1);
	t.is(linesOf(['text of MP4'], packet(2, sample('Exit')), styles), undefined);
});

test('subtitles with more rows or fonts than those of any film are not compared, also where all are the same', (t) => {
	const rows = (count: number) => packet(2, 'a\n'.repeat(count));
	t.truthy(linesOf(['text'], rows(1000)));
	t.is(linesOf(['text'], rows(1001)), undefined);
	const all = subtitleReader(tracks('text'));
	const full = rows(1000);
	for (let n = 0; n < 500; n++) full.forEach(all.take);
	t.deepEqual([...(all.read()?.tracks.get(2)?.rows.values() ?? [])], [500_000]);
	rows(1).forEach(all.take);
	t.is(all.read(), undefined);
	const styled = (n: number) => packet(2, sample('Sign', box('styl', 0, 1, ...style(n >> 8, n & 255))));
	const fonts = (count: number) => linesOf(['text of MP4'], ...Array.from({ length: count }, (_, n) => styled(n)));
	t.truthy(fonts(1000));
	t.is(fonts(1001), undefined);
});

test('once there is more than that ffprobe is ended, and the end of the whole check is told from that', async (t) => {
	const printed = [...packet(2, 'a\n'.repeat(1001)), ...packet(2, 'b')];
	const end = new AbortController();
	let taken = 0;
	const ffprobe = (atLast: () => void) =>
		({
			async run(_: unknown, { onLine, signal }: { onLine(line: string): void; signal: AbortSignal }) {
				for (taken = 0; taken < printed.length && !signal.aborted; taken++) onLine(printed[taken] ?? '');
				atLast();
				signal.throwIfAborted();
				return { code: 0, output: '', log: [] };
			},
		}) as never;
	const read = (atLast: () => void) => readLines(ffprobe(atLast), 3, { subtitleTracks: tracks('text') }, end.signal);
	t.is(await read(() => {}), undefined);
	t.is(printed.slice(0, taken).at(-1), '[/PACKET]');
	t.true(taken < printed.length);
	await t.throwsAsync(
		read(() => end.abort(new Error('cancelled'))),
		{ message: 'cancelled' },
	);
});

test('as many rows as a film may have are compared while others are served', async (t) => {
	const subtitleTracks = tracks('text');
	const rows = new Map(Array.from({ length: 500_000 }, (_, n) => [n * 1e8, 1]));
	const lines = { placed: 0, tracks: new Map([[2, { rows, isForced: false }]]) };
	const compare = (ended: AbortSignal) =>
		lostLines(
			{ film: { subtitleTracks }, lines },
			{ film: { subtitleTracks, named: { audio: [], subtitles: [] } }, lines },
			ended,
		);
	let turns = 0;
	const timer = setInterval(() => turns++, 1);
	t.deepEqual((await compare(signal)).changed, [0]);
	clearInterval(timer);
	t.true(turns > 1, `${turns} turns`);
	await t.throwsAsync(compare(AbortSignal.abort(new Error('cancelled'))), { message: 'cancelled' });
});

test('of tracks of MP4 with forced lines it is noticed whether they are marked in the output', async (t) => {
	const lines = (flags: number) =>
		linesOf(['text of MP4'], packet(2, sample('x')), stream(2, description(flags))) ?? t.fail();
	const subtitleTracks = tracks('text of MP4');
	const isUnforced = async (before: number, after: number, marks: readonly string[] = []) => {
		const [original, output] = [lines(before), lines(after)];
		if (!original || !output) return undefined;
		const named: Film['named'] = { audio: [], subtitles: [{ title: '', handler: '', language: '', marks }] };
		const converted = { film: { subtitleTracks, named }, lines: output };
		return (await lostLines({ film: { subtitleTracks }, lines: original }, converted, signal)).isUnforced;
	};
	t.true(await isUnforced(0xc0, 0));
	t.true(await isUnforced(0x40, 0x20));
	t.false(await isUnforced(0xc0, 0x80));
	t.false(await isUnforced(0xc0, 0, ['forced']));
	t.false(await isUnforced(0x20, 0));
});

interface Case {
	/** The subtitles, of which the film is made. */
	text: string;
	codec: 'copy' | 'mov_text' | 'ass';
	format: 'mp4' | 'mkv';
	damage?: (bytes: Buffer) => Buffer;
	losses: readonly string[];
}

const cue = (...texts: readonly string[]) =>
	texts.map((text, n) => `${n + 1}\n00:00:0${n},200 --> 00:00:0${n},900\n${text}\n\n`).join('');

const lecture = cue('{sighs} I know. {door closes} Listen!', 'In CSS it is a { color: red } here.', 'Yes.');
const ordinary = cue(
	'<i>Hello</i>, <b>Ida</b> & <font color="#ffff00">Bob</font>!',
	'♪ Zwölf Boxkämpfer – “x” … 日本語 ♪\n- [door] (sighs) 5 &amp; 6',
	'<u>The</u> end.\n<i>Fin</i>',
);

/** Makes of what is behind eight letters a box with a place. */
function withPlace(bytes: Buffer): Buffer {
	const at = bytes.indexOf('Top sign');
	bytes.writeUInt16BE(8, at - 2);
	box('tbox', 0, 0, 0, 0, 0, 40, 1, 64).copy(bytes, at + 8);
	return bytes;
}

function withForcedFlags(bytes: Buffer): Buffer {
	bytes[bytes.lastIndexOf('tx3g') + 12] = 0xc0;
	return bytes;
}

const cases: Readonly<Record<string, Case>> = {
	'words in braces, to mp4': {
		text: lecture,
		codec: 'copy',
		format: 'mp4',
		losses: ['words of 2 lines of subtitles 1'],
	},
	'words in braces, to mkv': {
		text: lecture,
		codec: 'copy',
		format: 'mkv',
		losses: ['words of 2 lines of subtitles 1'],
	},
	'words in braces, from mp4': {
		...{ text: lecture, codec: 'mov_text', format: 'mp4', losses: ['words of 2 lines of subtitles 1'] },
	},
	'names in angle brackets': {
		...{
			text: cue('<Anna> Come. <Bob> No.'),
			codec: 'copy',
			format: 'mkv',
			losses: ['words of 1 line of subtitles 1'],
		},
	},
	'a place in mp4': {
		...{ text: cue(`Top sign${'x'.repeat(16)}`, 'Below'), codec: 'mov_text', format: 'mp4', damage: withPlace },
		losses: ['the place of 1 line of subtitles'],
	},
	'flags of forced lines in mp4': {
		...{
			text: cue('Sign'),
			codec: 'mov_text',
			format: 'mkv',
			damage: withForcedFlags,
			losses: ['which tracks are forced'],
		},
	},
	'ordinary markup, to mp4': { text: ordinary, codec: 'copy', format: 'mp4', losses: [] },
	'ordinary markup, to mkv': { text: ordinary, codec: 'copy', format: 'mkv', losses: [] },
	'ordinary markup in ASS': { text: ordinary, codec: 'ass', format: 'mkv', losses: [] },
	'ordinary markup in mp4, to mp4': { text: ordinary, codec: 'mov_text', format: 'mp4', losses: [] },
	'ordinary markup in mp4, to mkv': { text: ordinary, codec: 'mov_text', format: 'mkv', losses: [] },
	'lines that overlap': {
		text: '1\n00:00:00,200 --> 00:00:02,000\nOne\n\n2\n00:00:00,800 --> 00:00:01,400\nTwo\n',
		...{ codec: 'copy', format: 'mp4', losses: [] },
	},
};

async function converted(t: ExecutionContext, name: string, format: string) {
	const { client, home } = await siteOfUser();
	const request = async (filePath: string) => {
		const done = await convert(client, { filePath, outputFormat: format, deleteOriginal: true });
		t.is(done.status, 'completed', done.error ?? '');
		return { done, detail: json(await client.get(`/api/jobs/${done.conversionId}`)).detail };
	};
	return { file: path.join(home, name), request };
}

for (const [what, { text, codec, format, damage, losses }] of Object.entries(cases)) {
	test(`of a film with subtitles with ${what}, the original is ${losses.length > 0 ? 'kept' : 'deleted'}`, async (t) => {
		const script = `${what.replaceAll(/\W/g, '-')}.srt`;
		await subtitles(script, text);
		const name = `film.${codec === 'mov_text' ? 'mp4' : 'mkv'}`;
		const { file, request } = await converted(t, name, format);
		await film(
			`${script}.${path.extname(name)}`,
			[...picture('160x90', 3), '-i', script, ...h264, '-c:s', codec],
			file,
		);
		if (damage !== undefined) await writeFile(file, damage(await readFile(file)));
		const { done, detail } = await request(name);
		t.deepEqual(detail.losses, losses);
		t.is(detail.isOriginalDeleted, losses.length === 0);
		if (codec !== 'copy' || losses.length > 0) return;
		// What the encoder has made itself.
		const again = await request(done.outputPath ?? '');
		t.deepEqual(again.detail.losses, []);
	});
}
