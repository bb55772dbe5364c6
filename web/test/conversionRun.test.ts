import type { Entry } from '@stowage/rules';
import test, { type ExecutionContext } from 'ava';
import { ConversionRun } from '../src/features/conversion/ConversionRun.js';
import { overallState, withStatus } from '../src/features/conversion/conversionState.js';
import type { Notice } from '../src/ui/notifications/notifications.js';
import { withoutPauses } from './withoutPauses.js';

const videos = ['a.mov', 'b\u202E.mov', 'c.mov'].map(
	(name): Entry => ({ name, path: `films/${name}`, type: 'file', size: 1000, mtime: 0 }),
);
const choice = { format: 'mp4', quality: 28, deletesOriginal: true } as const;

type Answer = Response | Error | Promise<Response>;

const queued = (id: string) => Response.json({ conversionId: id }, { status: 202 });
const refused = (message: string) =>
	Response.json({ statusCode: 400, code: 'INVALID', error: 'x', message }, { status: 400 });
const offline = () => new TypeError('Failed to fetch');

/** A server that answers the starts by the path of the film, and cancellations by the id. */
function serve(
	t: ExecutionContext,
	starts: Readonly<Record<string, () => Answer>>,
	cancels: Readonly<Record<string, () => Answer>> = {},
) {
	const { fetch } = globalThis;
	t.teardown(() => Object.assign(globalThis, { fetch }));
	const requests: string[] = [];
	const keys: string[] = [];
	globalThis.fetch = async (input, init) => {
		const path = String(input);
		if (path === '/api/handbrake/check') return Response.json({ available: true });
		const key = new Headers(init?.headers).get('idempotency-key');
		if (key !== null) keys.push(key);
		const what = path.endsWith('/convert')
			? JSON.parse(String(init?.body)).filePath
			: path.split('/').slice(-2).join(' ');
		requests.push(what);
		const answer = await (path.endsWith('/convert') ? starts : cancels)[what.replace('cancel ', '')]?.();
		if (answer instanceof Response) return answer;
		throw answer ?? new Error(`There is no answer for ${what}.`);
	};
	return { requests, keys };
}

function runOf(...films: Entry[]) {
	const told: Notice[] = [];
	const followed: (readonly string[])[] = [];
	const run = new ConversionRun('private', films, {
		notify: (notice) => void told.push(notice),
		follow: (ids) => void followed.push(ids),
	});
	return { run, told, followed };
}

/** The states on screen, where the server says that all are still being processed. */
function statesOf({ state }: ConversionRun): string[] {
	const { started, cancellations } = state();
	return started.map((conversion) => {
		const shown = withStatus({ ...conversion, status: 'processing' }, undefined, cancellations.get(conversion.id));
		return shown.isCancelling ? 'cancelling' : shown.status;
	});
}

function pending<T>() {
	let resolve = (_value: T) => {};
	const promise = new Promise<T>((done) => {
		resolve = done;
	});
	return { promise, resolve };
}

const startsAll = {
	'films/a.mov': () => queued('1'),
	'films/b\u202E.mov': () => queued('2'),
	'films/c.mov': () => queued('3'),
};

test.serial('a conversion counts as cancelled once the server has said so, each for itself', async (t) => {
	const first = pending<Response>();
	const second = pending<Response>();
	serve(t, startsAll, { 1: () => first.promise, 2: () => second.promise });
	const { run, told } = runOf(...videos.slice(0, 2));
	await run.start(choice);
	const cancelled = run.cancel(['1', '2']);
	t.deepEqual(statesOf(run), ['cancelling', 'cancelling']);
	first.resolve(Response.json({ message: 'Cancelled' }));
	await new Promise((resolve) => setTimeout(resolve));
	t.deepEqual(statesOf(run), ['cancelled', 'cancelling']);
	second.resolve(refused('Not now'));
	await cancelled;
	t.deepEqual(statesOf(run), ['cancelled', 'processing']);
	t.deepEqual(run.state().cancelProblem, { message: 'Error cancelling conversions', lines: ['Not now'] });
	t.deepEqual(told, [], 'it is shown in the dialog');
});

test.serial(
	'a cancellation that fails when the dialog is closed is told by a notice, and what runs is followed',
	async (t) => {
		const answer = pending<Response>();
		serve(t, startsAll, { 1: () => answer.promise, 3: () => Response.json({ message: 'Cancelled' }) });
		const { run, told, followed } = runOf(videos[0] as Entry, videos[2] as Entry);
		await run.start(choice);
		const cancelled = run.cancel(['1', '3']);
		run.leave(['1', '3']);
		run.leave(['1', '3']);
		t.deepEqual(followed, [['1', '3']], 'once');
		answer.resolve(refused('Not now'));
		await cancelled;
		t.like(told, [{ intent: 'danger', message: 'Error cancelling conversions', detail: 'Not now' }]);
	},
);

test.serial(
	'a dialog that is closed while it starts goes on starting, follows that and tells what failed',
	async (t) => {
		const answer = pending<Response>();
		const { requests } = serve(t, {
			...startsAll,
			'films/a.mov': () => answer.promise,
			'films/b\u202E.mov': () => refused('File is not a video'),
		});
		const { run, told, followed } = runOf(...videos);
		const started = run.start(choice);
		run.leave([]);
		answer.resolve(queued('1'));
		t.true(await started, 'it is no setup any more');
		t.deepEqual(requests, ['films/a.mov', 'films/b\u202E.mov', 'films/c.mov']);
		t.deepEqual(followed, [['1', '3']]);
		t.like(told, [
			{ intent: 'danger', message: 'Some conversions failed to start:', detail: 'b\uFFFD.mov: File is not a video' },
		]);
	},
);

test.serial('conversions that failed to start count as failed, and can be started without the others', async (t) => {
	let isVideo = false;
	const { requests } = serve(t, {
		...startsAll,
		'films/b\u202E.mov': () => (isVideo ? queued('2') : refused('File is not a video')),
	});
	const { run } = runOf(...videos);
	t.true(await run.start(choice));
	t.deepEqual(run.state().startProblem, {
		message: 'Some conversions failed to start:',
		lines: ['b\uFFFD.mov: File is not a video'],
	});
	t.is(overallState([{ status: 'completed' }], run.state().notStarted.length), 'failed');
	isVideo = true;
	requests.splice(0);
	await run.startOthers();
	t.deepEqual(requests, ['films/b\u202E.mov']);
	t.deepEqual(
		run.state().started.map(({ id }) => id),
		['1', '3', '2'],
	);
	t.like(run.state(), { notStarted: [], startProblem: undefined });
	t.is(overallState([{ status: 'completed' }], 0), 'completed');
});

const badGateway = () => new Response('Bad gateway', { status: 502 });

test.serial('a start without an answer is said to be perhaps one, and one that was refused is not', async (t) => {
	const notVideo = () => refused('File is not a video');
	const { keys } = serve(t, { 'films/a.mov': notVideo, 'films/b\u202E.mov': badGateway });
	const { run } = runOf(...videos);
	t.false(await withoutPauses(() => run.start(choice)), 'it is a setup still');
	t.deepEqual(run.state().startProblem, {
		message: 'Some conversions failed to start:',
		lines: ['a.mov: File is not a video', 'b\uFFFD.mov: Error starting conversion', 'c.mov: Error starting conversion'],
		hint: 'What got no answer may be queued all the same. Activity lists what is.',
	});
	t.is(new Set(keys.slice(1)).size, 1, 'what a proxy answers is sent again as what gets no answer');
	t.is(keys.length, 5);
	const other = runOf(videos[0] as Entry);
	await other.run.start(choice);
	t.is(other.run.state().startProblem?.hint, undefined);
});

test.serial('a start whose answer is lost is the same one until the server has answered that it is one', async (t) => {
	const busy = () =>
		Response.json({ statusCode: 429, code: 'RATE_LIMITED', error: 'x', message: 'Too many requests' }, { status: 429 });
	const answers = [offline, busy, badGateway, busy];
	const { keys } = serve(t, { 'films/a.mov': () => answers.shift()?.() ?? busy() });
	const { run } = runOf(videos[0] as Entry);
	t.false(await withoutPauses(() => run.start(choice)));
	t.is(run.state().startProblem?.hint, 'What got no answer may be queued all the same. Activity lists what is.');
	t.is(keys.length, 4);
	await run.start(choice);
	t.deepEqual(run.state().startProblem?.lines, ['a.mov: Too many requests'], 'it is the first answer to this attempt');
	t.is(keys.length, 5);
	const next = serve(t, startsAll);
	t.true(await run.start(choice));
	t.is(new Set([...keys, ...next.keys]).size, 1);
});

test.serial(
	'a start whose answer is lost is sent again with its key, and has then started one conversion',
	async (t) => {
		let lost = 2;
		const { keys } = serve(t, { ...startsAll, 'films/a.mov': () => (lost-- > 0 ? offline() : queued('1')) });
		const { run } = runOf(...videos);
		t.true(await withoutPauses(() => run.start(choice)));
		t.is(run.state().startProblem, undefined);
		const [first, again, last, second] = keys;
		t.deepEqual([again, last], [first, first]);
		t.regex(first ?? '', /^[0-9a-f]{32}$/);
		t.not(second, first);
	},
);

test.serial('without a network no other conversion is started, and the next attempt is the same start', async (t) => {
	const { keys, requests } = serve(t, { 'films/a.mov': offline });
	const { run } = runOf(...videos);
	t.false(await withoutPauses(() => run.start(choice)));
	t.like(run.state().startProblem, {
		lines: ['a.mov', 'b\uFFFD.mov', 'c.mov'].map((name) => `${name}: Network error`),
	});
	t.is(run.state().startProblem?.hint, 'What got no answer may be queued all the same. Activity lists what is.');
	t.deepEqual([...new Set(requests)], ['films/a.mov']);
	const next = serve(t, { ...startsAll, 'films/a.mov': () => refused('File is not a video') });
	await run.start(choice);
	t.is(next.keys[0], keys[0]);
	await run.startOthers();
	t.is(next.keys.at(-1), keys[0], 'what was refused has not begun');
	await run.start({ ...choice, format: 'webm' });
	t.not(next.keys.at(-3), keys[0], 'it is another one');
});

test.serial('a cancellation whose answer is lost is sent again', async (t) => {
	let lost = 1;
	serve(t, startsAll, { 1: () => (lost-- > 0 ? offline() : Response.json({ message: 'Cancelled' })) });
	const { run } = runOf(videos[0] as Entry);
	await run.start(choice);
	await withoutPauses(() => run.cancel(['1']));
	t.deepEqual(statesOf(run), ['cancelled']);
});

test.serial('no further conversion is started once they are cancelled, and the one under way is ended', async (t) => {
	const answer = pending<Response>();
	let isFirst = true;
	const { requests } = serve(
		t,
		{
			...startsAll,
			'films/b\u202E.mov': () => (isFirst ? refused('No') : answer.promise),
			'films/c.mov': () => refused('No'),
		},
		{ 1: () => Response.json({ message: 'Cancelled' }), 2: () => Response.json({ message: 'Cancelled' }) },
	);
	const { run } = runOf(...videos);
	await run.start(choice);
	isFirst = false;
	requests.splice(0);
	const others = run.startOthers();
	await new Promise((resolve) => setTimeout(resolve));
	await run.cancel(['1']);
	answer.resolve(queued('2'));
	await others;
	t.deepEqual(requests, ['films/b\u202E.mov', 'cancel 1', 'cancel 2']);
	t.deepEqual(statesOf(run), ['cancelled', 'cancelled']);
	t.deepEqual(run.state().notStarted, []);
});
