import { setImmediate } from 'node:timers/promises';
import test from 'ava';
import { isVisitorKey } from '../../src/http/requests/proxy.js';
import { FairQueue } from '../../src/limits/FairQueue.js';
import { DecoderTime } from '../../src/thumbnails/DecoderTime.js';

/** The time of two decoders, by a clock of the test. */
function decoders() {
	const clock = { now: 0 };
	const time = new DecoderTime({
		hourlyMs: { account: 3_600_000, address: 900_000 },
		...{ slowMs: 3000, timeLimitMs: 15_000, running: 2, busy: 'Later.' },
		now: () => clock.now,
	});
	return { clock, time };
}

test('short pictures of visitors come before the next slow one of an account until they have taken as long, and then it does', async (t) => {
	const { clock, time } = decoders();
	const queue = new FairQueue(
		{
			...{ running: 2, runningPerClient: 1, waiting: 512, waitingPerClient: 256 },
			group: { running: 1, waiting: 256, includes: isVisitorKey },
			spent: (client) => time.spent(client),
			spentOfNetwork: (network) => time.spentOfNetwork(network),
			isSlow: (client, network) => time.isSlow(client, network),
			groupLead: () => time.visitorsLead(),
		},
		'Later.',
	);
	const made: string[] = [];
	const make = (client: string, ms: number) =>
		queue.run(client, async () => {
			const end = time.begin({ client });
			made.push(client);
			await setImmediate();
			clock.now += ms;
			end();
		});
	await make('user eve', 15_000);
	const all = Array.from({ length: 3 }, () => make('user eve', 15_000));
	for (let count = 0; count < 200; count++) all.push(make('203.0.113.1', 200));
	await Promise.all(all);
	const turns = made
		.join(' ')
		.replaceAll('user eve', 'eve')
		.split('eve')
		.map((each) => each.trim().split(' ').filter(Boolean).length);
	t.deepEqual(turns, [0, 0, 76, 75, 49]);
});

test('who had the decoders alone for long owes the other side no more than one picture', (t) => {
	const { clock, time } = decoders();
	const make = (client: string, ms: number) => {
		const end = time.begin({ client });
		clock.now += ms;
		end();
		return time.visitorsLead();
	};
	t.is(make('user ada', 2000), 0, 'an account that is not slow');
	t.is(make('203.0.113.1', 200), 200);
	t.is(make('user eve', 3000), 200 - 3000, 'an account that is slow from now on');
	t.is(make('user eve', 100), 100 - 3000);
	for (let count = 0; count < 100; count++) make('203.0.113.1', 10_000);
	t.is(time.visitorsLead(), 15_000);
	for (let count = 0; count < 100; count++) make('user eve', 10_000);
	t.is(time.visitorsLead(), -15_000);
	// What is being made counts already.
	const end = time.begin({ client: '203.0.113.1' });
	clock.now += 5000;
	t.is(time.visitorsLead(), -10_000);
	end();
	t.is(time.visitorsLead(), -10_000);
});
