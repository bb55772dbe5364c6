import test from 'ava';
import {
	defaultLinkExpiration,
	type LinkExpiration,
	linkExpirationLabels,
	linkExpirationMilliseconds,
	linkExpirations,
} from '../../src/index.js';

test('a link expires after 1h, 12h, 1d or 1w, by default after 1h', (t) => {
	t.is(defaultLinkExpiration, '1h');
	t.deepEqual(linkExpirations, ['1h', '12h', '1d', '1w']);
});

const expiration = test.macro({
	exec: (t, value: LinkExpiration, label: string, milliseconds: number) => {
		t.is(linkExpirationLabels[value], label);
		t.is(linkExpirationMilliseconds[value], milliseconds);
	},
	title: (_, value, label) => `the expiration ${value} lasts ${label} and is shown so`,
});
test(expiration, '1h', '1 hour', 3_600_000);
test(expiration, '12h', '12 hours', 43_200_000);
test(expiration, '1d', '1 day', 86_400_000);
test(expiration, '1w', '1 week', 604_800_000);
