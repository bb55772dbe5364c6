import test from 'ava';
import { setUpFixture } from '../support/fileManager.js';
import { receiveOverCuts } from '../support/receiving.js';

const fixture = setUpFixture(test);

test.serial('2 GB are received by a share over three cut connections', (t) =>
	receiveOverCuts(t, fixture, 2 * 1024 ** 3),
);
