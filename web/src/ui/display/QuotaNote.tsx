import { ProgressBar } from '@blueprintjs/core';
import { formatListSize } from '@stowage/rules';
import { useQuery } from '@tanstack/react-query';
import { sessionQuery } from '../../api/session/sessionQuery.js';
import { messages } from '../../messages.js';
import styles from './QuotaNote.module.css';

/** The part of a quota from which on its use is shown. */
const nearlyFull = 0.8;

/** Shows how much of the user's quota is used, once it is nearly full. Renders nothing before, and without a quota. */
export function QuotaNote() {
	const quota = useQuery(sessionQuery).data?.quota;
	if (!quota || quota.used < quota.bytes * nearlyFull) return null;
	const text = messages.quotaUsed(formatListSize(quota.used), formatListSize(quota.bytes));
	const isFull = quota.used >= quota.bytes;
	return (
		<div className={styles.note}>
			<span>{text}</span>
			<ProgressBar
				aria-label={text}
				intent={isFull ? 'danger' : 'warning'}
				animate={false}
				stripes={false}
				value={Math.min(1, quota.used / quota.bytes)}
			/>
		</div>
	);
}
