import { ProgressBar } from '@blueprintjs/core';
import { shownName } from '@stowage/rules';
import { isActive } from '../../api/jobs/jobs.js';
import styles from './ConversionList.module.css';
import type { Conversion } from './conversionState.js';
import { barOf, detailOf, statusOf } from './conversionText.js';
import { conversionMessages as messages } from './messages.js';

/** Each conversion with its progress and its result. */
export function ConversionList({ conversions }: { conversions: readonly Conversion[] }) {
	return (
		// biome-ignore lint/a11y/noNoninteractiveTabindex: so that the keyboard can scroll it
		<ul className={styles.conversions} tabIndex={0} aria-label={messages.conversions}>
			{conversions.map((conversion) => (
				<li key={conversion.id} className={styles.conversion} data-status={conversion.status}>
					<span className={styles.name} title={shownName(conversion.video.name)}>
						{shownName(conversion.video.name)}
					</span>
					<span className={styles.status}>{statusOf(conversion)}</span>
					<ProgressBar
						className={styles.progress}
						aria-label={shownName(conversion.video.name)}
						intent={isActive(conversion) ? 'primary' : 'none'}
						animate={false}
						stripes={false}
						value={barOf(conversion)}
					/>
					<span className={styles.detail}>{detailOf(conversion)}</span>
				</li>
			))}
		</ul>
	);
}
