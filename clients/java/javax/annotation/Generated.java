// The annotation of generated classes; the JDK does not contain it since 11.
package javax.annotation;

public @interface Generated {
    String[] value();

    String date() default "";

    String comments() default "";
}
