import { HTMLSelect } from '@blueprintjs/core';
import { GlobeIcon, LockIcon, PeopleIcon } from '@blueprintjs/icons';
import type { Area } from '@stowage/rules';
import styles from './AreaSelect.module.css';
import { areaMessages as messages } from './areaMessages.js';

export interface AreaSelectProps {
	area: Area;
	/** Whether the private area can be chosen. */
	isSignedIn: boolean;
	/** Whether there are folders of others in the area of shared ones. It can also be chosen while it is on screen. */
	hasShared: boolean;
	onArea: (area: Area) => void;
}

const icons = {
	private: <LockIcon aria-hidden />,
	public: <GlobeIcon aria-hidden />,
	shared: <PeopleIcon aria-hidden />,
} satisfies Record<Area, unknown>;

/** Shows and switches the area, with an icon that says who can see it. */
export function AreaSelect({ area, isSignedIn, hasShared, onArea }: AreaSelectProps) {
	const mode = messages.modes[area];
	return (
		<div className={styles.area} title={mode}>
			<span role="img" aria-label={mode} className={styles.mode}>
				{icons[area]}
			</span>
			<HTMLSelect
				aria-label={messages.area}
				value={area}
				onChange={(event) => onArea(event.currentTarget.value as Area)}
			>
				<option value="public">{messages.areas.public}</option>
				<option value="private" disabled={!isSignedIn}>
					{messages.areas.private}
				</option>
				{(hasShared || area === 'shared') && <option value="shared">{messages.areas.shared}</option>}
			</HTMLSelect>
		</div>
	);
}
