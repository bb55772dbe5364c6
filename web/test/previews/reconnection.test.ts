import { setTimeout as wait } from 'node:timers/promises';
import test from 'ava';
import { type Connection, type Player, Reconnection } from '../../src/features/previews/common/viewer/Reconnection.js';

const lost = { code: 2 } as MediaError;
const unreadable = { code: 4 } as MediaError;

/** A song at its 42nd second whose connection is lost as often as it is fetched again, or as said. */
function songWith(losses: number, pauses: readonly number[]) {
	const states: Connection[] = [];
	const reconnection = new Reconnection((connection) => states.push(connection), pauses);
	const player: Player & { paused: boolean; error: MediaError | null; loads: number; plays: number } = {
		...{ error: lost, currentTime: 42, paused: false, autoplay: true, loads: 0, plays: 0 },
		load() {
			Object.assign(player, { currentTime: 0, paused: true, error: player.loads++ < losses ? unreadable : null });
			setTimeout(() => {
				if (player.error) return reconnection.takeError(player);
				reconnection.resume(player);
				reconnection.settle();
			});
		},
		async play() {
			player.plays++;
		},
	};
	return { states, reconnection, player };
}

async function until(isReached: () => boolean): Promise<void> {
	while (!isReached()) await wait(1);
}

test('a song whose connection was lost is fetched again after each pause, and goes on at its place', async (t) => {
	const { states, reconnection, player } = songWith(2, [1, 2, 3]);
	t.true(reconnection.takeError(player));
	await until(() => states.at(-1) === 'connected');
	t.is(player.loads, 3);
	t.is(player.currentTime, 42);
	t.is(player.plays, 1);
	t.false(player.autoplay);
	t.deepEqual(states, ['reconnecting', 'reconnecting', 'reconnecting', 'connected']);
});

test('a song that was stopped stays so when it is fetched again', async (t) => {
	const { states, reconnection, player } = songWith(0, [1]);
	player.paused = true;
	reconnection.takeError(player);
	await until(() => states.at(-1) === 'connected');
	t.is(player.currentTime, 42);
	t.is(player.plays, 0);
});

test('a song is given up after the last pause, and goes on at its place when it is tried again', async (t) => {
	const { states, reconnection, player } = songWith(2, [1, 1]);
	reconnection.takeError(player);
	await until(() => states.at(-1) === 'lost');
	t.is(player.loads, 2);
	reconnection.tryAgain();
	await until(() => states.at(-1) === 'connected');
	t.is(player.currentTime, 42);
	t.is(player.plays, 1);
});

test('a computer that is online again waits for no pause', async (t) => {
	const { states, reconnection, player } = songWith(0, [60_000]);
	reconnection.tryAgain();
	t.is(player.loads, 0, 'there is nothing to fetch again');
	reconnection.takeError(player);
	reconnection.tryAgain();
	await until(() => states.at(-1) === 'connected');
	t.is(player.loads, 1);
});

test('a file that is no song is not fetched again', (t) => {
	const { states, reconnection, player } = songWith(0, [1]);
	player.error = unreadable;
	t.false(reconnection.takeError(player));
	t.deepEqual(states, []);
});
