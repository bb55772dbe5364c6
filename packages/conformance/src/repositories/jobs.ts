import { jobBoundRules } from './jobs/bounds.js';
import { jobCancelRules } from './jobs/cancelling.js';
import { jobClaimRules } from './jobs/claims.js';
import { jobInterruptionRules } from './jobs/interruptions.js';
import { jobRunRules } from './jobs/runs.js';
import { jobTurnRules } from './jobs/turns.js';
import type { Rule } from './rules.js';

/** Jobs with their leases. */
export function jobRules(assertThat: Rule): void {
	jobClaimRules(assertThat);
	jobRunRules(assertThat);
	jobCancelRules(assertThat);
	jobTurnRules(assertThat);
	jobInterruptionRules(assertThat);
	jobBoundRules(assertThat);
}
