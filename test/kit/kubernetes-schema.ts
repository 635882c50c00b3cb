/**
 * The Kubernetes objects of config/k8s, field by field. Every object is strict: a name that the API does not have, or that
 * stands in the wrong place, is refused here as `kubectl apply` would refuse it.
 */
import * as v from 'valibot';

const name = v.pipe(v.string(), v.regex(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/));
const labels = v.record(v.pipe(v.string(), v.regex(/^[a-z0-9./-]+$/)), v.pipe(v.string(), v.maxLength(63)));
const count = v.pipe(v.number(), v.integer(), v.minValue(0));
const quantity = v.pipe(v.string(), v.regex(/^\d+(\.\d+)?(m|Ki|Mi|Gi)?$/));
const port = v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(65_535));
const metadata = v.strictObject({ name, namespace: v.optional(name), labels: v.optional(labels) });
const selector = v.strictObject({ matchLabels: labels });

const keyRef = v.strictObject({ name, key: v.string(), optional: v.optional(v.boolean()) });
const variable = v.union([
  v.strictObject({ name: v.string(), value: v.string() }),
  v.strictObject({
    name: v.string(),
    valueFrom: v.union([
      v.strictObject({
        fieldRef: v.strictObject({
          fieldPath: v.picklist(['metadata.name', 'metadata.namespace', 'status.podIP']),
        }),
      }),
      v.strictObject({ secretKeyRef: keyRef }),
      v.strictObject({ configMapKeyRef: keyRef }),
    ]),
  }),
]);
const resources = v.strictObject({ memory: quantity, cpu: quantity });
const probe = v.strictObject({
  httpGet: v.strictObject({ path: v.pipe(v.string(), v.startsWith('/')), port: v.union([v.string(), port]) }),
  initialDelaySeconds: count,
  periodSeconds: count,
  timeoutSeconds: v.optional(count),
  failureThreshold: v.optional(count),
});
const container = v.strictObject({
  name,
  image: v.string(),
  args: v.array(v.string()),
  envFrom: v.array(v.strictObject({ configMapRef: v.strictObject({ name }) })),
  env: v.array(variable),
  ports: v.array(v.strictObject({ name, containerPort: port })),
  resources: v.strictObject({ requests: resources, limits: resources }),
  readinessProbe: probe,
  livenessProbe: probe,
  securityContext: v.strictObject({
    allowPrivilegeEscalation: v.literal(false),
    readOnlyRootFilesystem: v.literal(true),
    capabilities: v.strictObject({ drop: v.tuple([v.literal('ALL')]) }),
  }),
  volumeMounts: v.array(v.strictObject({ name, mountPath: v.string() })),
});

export const deployment = v.strictObject({
  apiVersion: v.literal('apps/v1'),
  kind: v.literal('Deployment'),
  metadata,
  spec: v.strictObject({
    replicas: v.optional(count),
    selector,
    template: v.strictObject({
      metadata: v.strictObject({ labels }),
      spec: v.strictObject({
        serviceAccountName: v.optional(name),
        terminationGracePeriodSeconds: count,
        securityContext: v.strictObject({
          runAsNonRoot: v.literal(true),
          runAsUser: count,
          seccompProfile: v.strictObject({ type: v.literal('RuntimeDefault') }),
        }),
        containers: v.tuple([container]),
        volumes: v.array(v.strictObject({ name, emptyDir: v.strictObject({}) })),
      }),
    }),
  }),
});

const target = v.strictObject({ apiVersion: v.literal('apps/v1'), kind: v.literal('Deployment'), name });
const policy = v.strictObject({ type: v.picklist(['Percent', 'Pods']), value: count, periodSeconds: count });
const scaling = v.strictObject({ stabilizationWindowSeconds: count, policies: v.array(policy) });
const behavior = v.strictObject({ scaleUp: scaling, scaleDown: scaling });

export const horizontalPodAutoscaler = v.strictObject({
  apiVersion: v.literal('autoscaling/v2'),
  kind: v.literal('HorizontalPodAutoscaler'),
  metadata,
  spec: v.strictObject({
    scaleTargetRef: target,
    minReplicas: count,
    maxReplicas: count,
    metrics: v.array(
      v.variant('type', [
        v.strictObject({
          type: v.literal('External'),
          external: v.strictObject({
            metric: v.strictObject({ name: v.pipe(v.string(), v.regex(/^[a-z_]+$/)) }),
            target: v.strictObject({ type: v.literal('AverageValue'), averageValue: quantity }),
          }),
        }),
        v.strictObject({
          type: v.literal('Resource'),
          resource: v.strictObject({
            name: v.picklist(['cpu', 'memory']),
            target: v.strictObject({ type: v.literal('Utilization'), averageUtilization: count }),
          }),
        }),
      ]),
    ),
    behavior,
  }),
});

export const scaledObject = v.strictObject({
  apiVersion: v.literal('keda.sh/v1alpha1'),
  kind: v.literal('ScaledObject'),
  metadata,
  spec: v.strictObject({
    scaleTargetRef: target,
    pollingInterval: count,
    cooldownPeriod: count,
    minReplicaCount: count,
    maxReplicaCount: count,
    fallback: v.strictObject({
      failureThreshold: count,
      replicas: count,
      behavior: v.picklist([
        'static',
        'currentReplicas',
        'currentReplicasIfHigher',
        'currentReplicasIfLower',
      ]),
    }),
    triggers: v.array(
      v.strictObject({
        type: v.literal('prometheus'),
        metricType: v.literal('AverageValue'),
        // KEDA takes texts only here.
        metadata: v.strictObject({
          serverAddress: v.pipe(v.string(), v.url()),
          query: v.string(),
          threshold: v.string(),
          ignoreNullValues: v.picklist(['true', 'false']),
        }),
      }),
    ),
    advanced: v.strictObject({ horizontalPodAutoscalerConfig: v.strictObject({ behavior }) }),
  }),
});

const disruptionBudget = v.strictObject({
  apiVersion: v.literal('policy/v1'),
  kind: v.literal('PodDisruptionBudget'),
  metadata,
  spec: v.union([
    v.strictObject({ minAvailable: count, selector }),
    v.strictObject({ maxUnavailable: count, selector }),
  ]),
});

const service = v.strictObject({
  apiVersion: v.literal('v1'),
  kind: v.literal('Service'),
  metadata,
  spec: v.strictObject({
    selector: labels,
    ports: v.array(v.strictObject({ name, port, targetPort: v.union([name, port]) })),
  }),
});

const configMap = v.strictObject({
  apiVersion: v.literal('v1'),
  kind: v.literal('ConfigMap'),
  metadata,
  data: v.record(v.string(), v.string()),
});

const serviceAccount = v.strictObject({
  apiVersion: v.literal('v1'),
  kind: v.literal('ServiceAccount'),
  metadata,
});

const RBAC = 'rbac.authorization.k8s.io';
const role = v.strictObject({
  apiVersion: v.literal(`${RBAC}/v1`),
  kind: v.literal('Role'),
  metadata,
  rules: v.array(
    v.strictObject({
      apiGroups: v.array(v.string()),
      resources: v.array(v.string()),
      resourceNames: v.optional(v.array(name)),
      verbs: v.array(v.picklist(['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'])),
    }),
  ),
});
const roleBinding = v.strictObject({
  apiVersion: v.literal(`${RBAC}/v1`),
  kind: v.literal('RoleBinding'),
  metadata,
  roleRef: v.strictObject({ apiGroup: v.literal(RBAC), kind: v.literal('Role'), name }),
  subjects: v.array(v.strictObject({ kind: v.literal('ServiceAccount'), name, namespace: v.optional(name) })),
});

const kinds = v.variant('kind', [
  deployment,
  horizontalPodAutoscaler,
  scaledObject,
  disruptionBudget,
  service,
  configMap,
  serviceAccount,
  role,
  roleBinding,
]);

export type KubernetesObject = v.InferOutput<typeof kinds>;
export type Deployment = v.InferOutput<typeof deployment>;

/** Throws where the API would refuse it. */
export function parseObject(value: unknown): KubernetesObject {
  const result = v.safeParse(kinds, value);
  if (result.success) return result.output;
  const words = result.issues.map((issue) => `${v.getDotPath(issue) ?? 'the object'}: ${issue.message}`);
  throw new Error(words.join('; '));
}
