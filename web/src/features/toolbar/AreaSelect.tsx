import { HTMLSelect } from '@blueprintjs/core';
import { GlobeIcon, LockIcon } from '@blueprintjs/icons';
import type { Area } from '@stowage/rules';
import styles from './AreaSelect.module.css';
import { toolbarMessages as messages } from './messages.js';

export interface AreaSelectProps {
	area: Area;
	/** Whether the private area can be chosen. */
	isSignedIn: boolean;
	onArea: (area: Area) => void;
}

/** Shows and switches the area, with an icon that says whether it is public. */
export function AreaSelect({ area, isSignedIn, onArea }: AreaSelectProps) {
	const isPrivate = area === 'private';
	const mode = isPrivate ? messages.privateMode : messages.publicMode;
	return (
		<div className={styles.area} title={mode}>
			<span role="img" aria-label={mode} className={styles.mode}>
				{isPrivate ? <LockIcon aria-hidden /> : <GlobeIcon aria-hidden />}
			</span>
			<HTMLSelect
				aria-label={messages.area}
				value={area}
				onChange={(event) => onArea(event.currentTarget.value === 'private' ? 'private' : 'public')}
			>
				<option value="public">{messages.publicFiles}</option>
				<option value="private" disabled={!isSignedIn}>
					{messages.privateFiles}
				</option>
			</HTMLSelect>
		</div>
	);
}
