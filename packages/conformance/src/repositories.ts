import type { Stores } from '@stowage/plugin-api';
import type { TestFn } from 'ava';
import { eventRules } from './repositories/events.js';
import { homeUsageRules } from './repositories/homeUsage.js';
import { idempotencyRules } from './repositories/idempotency.js';
import { jobRules } from './repositories/jobs.js';
import { keyValueRules } from './repositories/keyValues.js';
import { leaseRules } from './repositories/leases.js';
import { limitRules } from './repositories/limits.js';
import { linkRules } from './repositories/links.js';
import { memberRules } from './repositories/members.js';
import { rootRules } from './repositories/roots.js';
import type { Clock, Rule } from './repositories/rules.js';
import { secondFactorRules } from './repositories/secondFactors.js';
import { sessionRules } from './repositories/sessions.js';
import { shareRules } from './repositories/shares.js';
import { receivedUploadRules, shareUseRules } from './repositories/shareUses.js';
import { ticketRules } from './repositories/tickets.js';
import { trashRules } from './repositories/trash.js';
import { uploadRules } from './repositories/uploads.js';
import { userRules } from './repositories/users.js';
import { versionRules } from './repositories/versions.js';

export interface OpenedRepositories {
	/** The database, which uses `clock` for new rows. */
	db: Stores;
	close(): Promise<void>;
}

/** The rules of the stores, one test each. `open` creates an empty database for each. */
export function repositoriesSuite(
	test: TestFn,
	name: string,
	open: (clock: Clock) => Promise<OpenedRepositories>,
): void {
	const assertThat: Rule = (title, check) =>
		test(`${name}: ${title}`, async (t) => {
			const clock = { now: Date.UTC(2030, 0, 1) };
			const { db, close } = await open(clock);
			try {
				await check(t, db, clock);
			} finally {
				await close();
			}
		});

	userRules(assertThat);
	secondFactorRules(assertThat);
	sessionRules(assertThat);
	rootRules(assertThat);
	uploadRules(assertThat);
	homeUsageRules(assertThat);
	idempotencyRules(assertThat);
	limitRules(assertThat);
	keyValueRules(assertThat);
	linkRules(assertThat);
	shareRules(assertThat);
	memberRules(assertThat);
	shareUseRules(assertThat);
	receivedUploadRules(assertThat);
	ticketRules(assertThat);
	trashRules(assertThat);
	versionRules(assertThat);
	jobRules(assertThat);
	leaseRules(assertThat);
	eventRules(assertThat);
}
