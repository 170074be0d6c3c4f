{{- define "animal-store.fullname" -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- else if contains $name .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "animal-store.selectorLabels" -}}
app.kubernetes.io/name: animal-store
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "animal-store.apiLabels" -}}
{{ include "animal-store.selectorLabels" . }}
app.kubernetes.io/component: api
{{- end -}}

{{/* Renders the template animal-store.NAME, with `overrides.NAME` merged into it. Takes (list context NAME). */}}
{{- define "animal-store.object" -}}
{{- $name := last . -}}
{{- with include (printf "animal-store.%s" $name) (first .) | fromYaml }}
---
{{ include "animal-store.merge" (list . (get (first $).Values.overrides $name)) }}
{{- end }}
{{- end -}}

{{/* Returns the first map with the second one merged into it. Null removes a key; a list replaces a list. Helm's `merge` ignores false and 0. */}}
{{- define "animal-store.merge" -}}
{{- $merged := deepCopy (first .) -}}
{{- range $key, $value := last . -}}
{{- $before := get $merged $key -}}
{{- if kindIs "invalid" $value -}}
{{- $_ := unset $merged $key -}}
{{- else if and (kindIs "map" $value) (kindIs "map" $before) -}}
{{- $_ := set $merged $key (include "animal-store.merge" (list $before $value) | fromYaml) -}}
{{- else -}}
{{- $_ := set $merged $key $value -}}
{{- end -}}
{{- end -}}
{{- toYaml $merged -}}
{{- end -}}

{{- define "animal-store.labels" -}}
{{- with .Values.commonLabels }}{{ toYaml . }}
{{ end -}}
{{ include "animal-store.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end -}}

{{- define "animal-store.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ default .Chart.AppVersion .Values.image.tag }}
{{- end -}}
{{- end -}}

{{- define "animal-store.serviceAccountName" -}}
{{- default (include "animal-store.fullname" .) .Values.serviceAccount.name -}}
{{- end -}}

{{- define "animal-store.postgresName" -}}
{{ include "animal-store.fullname" . }}-postgres
{{- end -}}

{{/* Formats a variable as text. Helm reads numbers as floats: `quote` alone would write 1000000 as 1e+06. */}}
{{- define "animal-store.text" -}}
{{- if kindIs "string" . -}}{{ . | quote }}{{- else -}}{{ . | toJson | quote }}{{- end -}}
{{- end -}}

{{/* The secrets of this release: { database, migrationDatabase, databaseReplicas, redis }, each { name, key } or { path }, or absent. */}}
{{- define "animal-store.secrets" -}}
{{- $secrets := .Values.secrets -}}
{{- $owner := dict "name" (printf "%s-app" (include "animal-store.postgresName" .)) "key" "uri" -}}
{{- $database := $secrets.database -}}
{{- if not (or $database.name $database.path) -}}
{{- if not .Values.postgres.enabled }}{{ fail "secrets.database.name is required unless postgres.enabled is true" }}{{ end -}}
{{- if .Values.migrations.grants.enabled }}{{ fail "secrets.database.name is required if migrations.grants.enabled is true; set it to the Secret with the URL of the service's role" }}{{ end -}}
{{- $database = $owner -}}
{{- end -}}
{{- $migration := $secrets.migrationDatabase -}}
{{- if not (or $migration.name $migration.path) -}}
{{- $migration = ternary $owner $database .Values.postgres.enabled -}}
{{- end -}}
{{- $found := dict "database" $database "migrationDatabase" $migration -}}
{{- range $name := list "databaseReplicas" "redis" -}}
{{- with get $secrets $name }}{{ if or .name .path }}{{ $_ := set $found $name . }}{{ end }}{{ end -}}
{{- end -}}
{{- if and $found.databaseReplicas .Values.citus.enabled }}{{ fail "secrets.databaseReplicas cannot be used with citus.enabled" }}{{ end -}}
{{- toJson $found -}}
{{- end -}}

{{/* An environment variable from a Secret: the URL itself, or the file that contains it. Takes { as, variable, secret, file }. */}}
{{- define "animal-store.secretVariable" -}}
{{- if or .secret.path (eq .as "file") -}}
- name: {{ .variable }}_FILE
  value: {{ default (printf "/etc/animal-store/secrets/%s" .file) .secret.path | quote }}
{{- else -}}
- name: {{ .variable }}
  valueFrom:
    secretKeyRef: { name: {{ .secret.name | quote }}, key: {{ .secret.key | quote }} }
{{- end -}}
{{- end -}}

{{/* The sources of the volume with the Secrets of the variables. Empty if there is none. Takes { context, variables }. */}}
{{- define "animal-store.secretSources" -}}
{{- range .variables -}}
{{- if and (eq $.context.Values.secrets.as "file") (not .secret.path) }}
- secret:
    name: {{ .secret.name | quote }}
    items: [{ key: {{ .secret.key | quote }}, path: {{ .file }} }]
{{- end }}
{{- end }}
{{- end -}}

{{/* What every container of the image has. Takes { context, variables, resources }. */}}
{{- define "animal-store.containerSettings" -}}
image: {{ include "animal-store.image" .context | quote }}
imagePullPolicy: {{ .context.Values.image.pullPolicy }}
resources: {{- toYaml .resources | nindent 2 }}
securityContext: {{- toYaml .context.Values.containerSecurityContext | nindent 2 }}
{{- $secrets := include "animal-store.secretSources" . -}}
{{- if or $secrets .context.Values.extraVolumeMounts }}
volumeMounts:
  {{- if $secrets }}
  - { name: secrets, mountPath: /etc/animal-store/secrets, readOnly: true }
  {{- end }}
  {{- with .context.Values.extraVolumeMounts }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end }}
{{- end -}}

{{/* What the values set for every pod. Takes { context, serviceAccount, variables }. */}}
{{- define "animal-store.podSettings" -}}
serviceAccountName: {{ .serviceAccount }}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext: {{- toYaml .context.Values.podSecurityContext | nindent 2 }}
{{- range $name := list "imagePullSecrets" "priorityClassName" "nodeSelector" "tolerations" "affinity" }}
{{- with index $.context.Values $name }}
{{ $name }}: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
{{- $secrets := include "animal-store.secretSources" . -}}
{{- if or $secrets .context.Values.extraVolumes }}
volumes:
  {{- if $secrets }}
  - name: secrets
    projected:
      # 0440
      defaultMode: 288
      sources: {{- $secrets | nindent 8 }}
  {{- end }}
  {{- with .context.Values.extraVolumes }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end }}
{{- end -}}

{{/* preStopSeconds + DRAIN_SECONDS + shutdown + 5 s. The shutdown takes up to 15 s for requests and 5 s for the pool. */}}
{{- define "animal-store.terminationGracePeriodSeconds" -}}
{{- add (int .Values.preStopSeconds) (int .Values.config.DRAIN_SECONDS) 25 -}}
{{- end -}}
