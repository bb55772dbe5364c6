import { AnchorButton, Button } from '@blueprintjs/core';
import { DownloadIcon } from '@blueprintjs/icons';
import { isFailure } from '@stowage/rules';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, type Ref, useEffect, useId, useMemo, useRef, useState } from 'react';
import { usePublicOrigin } from '../../../api/capabilities.js';
import { NetworkFailure } from '../../../api/client/client.js';
import { asUser } from '../../../api/session/refreshSession.js';
import { confirmTwoFactor } from '../../../api/session/replaceSession.js';
import type { TwoFactorSetup as Setup } from '../../../api/session/twoFactor.js';
import { FormError } from '../../../ui/display/FormError.js';
import { QrCode } from '../../../ui/display/QrCode.js';
import { TextField } from '../../../ui/fields/TextField.js';
import { useBlobUrl } from '../../../ui/useBlobUrl.js';
import { CopyButton } from './CopyButton.js';
import { twoFactorMessages as messages } from './messages.js';
import { inGroups, recoveryCodesFileName, recoveryCodesText } from './recoveryCodes.js';
import styles from './TwoFactorSetup.module.css';

export interface TwoFactorSetupProps {
	username: string;
	setup: Setup;
	/** Called once it is on. */
	onConfirmed: () => void;
	/** Called if the answer was lost: it may be on, and the page's session may have ended. */
	onNoAnswer: () => void;
	/** Called if it was turned on, discarded or begun anew elsewhere. */
	onOutOfDate: (reason: string) => void;
	/** Called if it is to stay off. */
	onCancel: () => void;
}

/** The three steps that turn it on: the secret for the app, the recovery codes, and a code as the proof that the app has the secret. */
export function TwoFactorSetup({ username, setup, ...ends }: TwoFactorSetupProps) {
	const firstStep = useRef<HTMLHeadingElement>(null);
	const key = useRef<HTMLElement>(null);
	const codes = useRef<HTMLUListElement>(null);

	useEffect(() => {
		firstStep.current?.focus({ preventScroll: true });
		firstStep.current?.closest('section')?.scrollIntoView({ block: 'start' });
	}, []);

	return (
		<ol className={styles.steps}>
			<Step title={messages.scan} titleRef={firstStep}>
				<div className={styles.scan}>
					<QrCode text={setup.uri} label={messages.qrCode} />
					<div className={styles.byHand}>
						<AnchorButton className={styles.openApp} href={setup.uri} text={messages.openApp} />
						<p className={styles.note}>{messages.key}</p>
						<code ref={key} className={styles.key}>
							{inGroups(setup.secret)}
						</code>
						<CopyButton label={messages.copyKey} text={setup.secret} source={key} />
					</div>
				</div>
			</Step>
			<Step title={messages.keep}>
				<p className={styles.note}>{messages.keepNote}</p>
				<ul ref={codes} className={styles.codes} aria-label={messages.recoveryCodes}>
					{setup.recoveryCodes.map((code) => (
						<li key={code}>{code}</li>
					))}
				</ul>
				<CopyButton label={messages.copy} text={setup.recoveryCodes.join('\n')} source={codes}>
					<DownloadButton codes={setup.recoveryCodes} username={username} />
				</CopyButton>
			</Step>
			<Step title={messages.confirmStep}>
				<ConfirmForm username={username} {...ends} />
			</Step>
		</ol>
	);
}

interface StepProps {
	title: string;
	/** The heading, if it can be given the focus. */
	titleRef?: Ref<HTMLHeadingElement>;
	children: ReactNode;
}

function Step({ title, titleRef, children }: StepProps) {
	const id = useId();
	return (
		<li className={styles.step}>
			<h4 className={styles.title} id={id} {...(titleRef ? { ref: titleRef, tabIndex: -1 } : {})}>
				{title}
			</h4>
			{/* biome-ignore lint/a11y/useSemanticElements: a fieldset is for the fields of a form */}
			<div role="group" aria-labelledby={id}>
				{children}
			</div>
		</li>
	);
}

function DownloadButton({ codes, username }: { codes: readonly string[]; username: string }) {
	const origin = usePublicOrigin();
	const bytes = useMemo(() => {
		const text = recoveryCodesText({ codes, username, origin, createdAt: Date.now() });
		return new TextEncoder().encode(text);
	}, [codes, username, origin]);
	return (
		<AnchorButton
			icon={<DownloadIcon />}
			text={messages.download}
			href={useBlobUrl(bytes, 'text/plain')}
			download={recoveryCodesFileName(username)}
		/>
	);
}

function ConfirmForm({ username, onConfirmed, onNoAnswer, onOutOfDate, onCancel }: Omit<TwoFactorSetupProps, 'setup'>) {
	const queryClient = useQueryClient();
	const [typed, setTyped] = useState('');
	const code = typed.trim();
	const field = useRef<HTMLInputElement>(null);
	const { mutate, error, isPending } = useMutation({
		mutationFn: () => asUser(queryClient, username, () => confirmTwoFactor(code)),
		onSuccess: onConfirmed,
		onError(failure) {
			if (failure instanceof NetworkFailure) onNoAnswer();
			if (isFailure(failure, 'conflict')) onOutOfDate(failure.message);
		},
	});

	useEffect(() => {
		if (error) field.current?.select();
	}, [error]);

	return (
		<form
			onSubmit={(event) => {
				event.preventDefault();
				if (isPending || code === '') return;
				// The button is disabled then, and a disabled button that has the focus swallows every key.
				field.current?.focus();
				mutate();
			}}
		>
			<div className={styles.code}>
				<TextField
					label={messages.code}
					value={typed}
					onValue={setTyped}
					inputRef={field}
					inputMode="numeric"
					isInvalid={isFailure(error, 'secondFactor')}
					autoComplete="one-time-code"
				/>
			</div>
			{error && (
				<FormError className={styles.error}>{isFailure(error) ? error.message : messages.turnOnFailed}</FormError>
			)}
			<div className={styles.actions}>
				<Button text={messages.cancel} onClick={onCancel} />
				<Button type="submit" intent="primary" text={messages.confirm} disabled={code === ''} loading={isPending} />
			</div>
		</form>
	);
}
